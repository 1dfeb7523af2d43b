"""English turns of phrase by which a wish, a question or a judgement is usually put.  Pure data.

The words of a phrase are joined by ``+``; the longest that stands at a place is taken.
"""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "desire": """
        can+we+make can+we+have can+we+get could+we+make could+we+have could+we+get
        would+it+be+possible+to+have would+it+be+possible+to+get is+it+possible+to+have
        it'd+be+nice+to+have would+be+nice+to+have would+be+good+to+have
    """,
    "occur": """
        all+subclasses all+callers all+usages all+references all+occurrences all+implementations
        all+imports all+places all+uses all+calls all+instances all+entries+that
        all+the+entries all+the+places all+the+callers every+place every+caller every+usage
        every+use every+call every+occurrence every+reference every+spot subclasses+of
        callers+of usages+of references+to occurrences+of implementations+of
    """,
    "find": """
        can't+remember+where can't+recall+where don't+remember+where do+not+remember+where
        forgot+where no+idea+where i+forgot+where cannot+remember+where not+sure+where
        i+can't+remember+where i+don't+remember+where i+can't+recall+where i+have+no+idea+where
        i+don't+know+where i+can't+find+where
    """,
    "explain": """
        mental+model mental+model+of give+me+a+mental+model an+overview+of give+me+an+overview
        give+me+a+rundown a+rundown+of a+primer+on give+me+a+primer a+crash+course
        give+me+a+tour a+tour+of give+me+the+big+picture
    """,
    "review": """
        code+smell code+smells smell+check criticism criticism+of some+criticism lgtm+or+not
        good+to+merge+or+not ready+to+merge+or+not constructive+criticism
    """,
    "push": "send+it+upstream push+it+upstream get+it+upstream send+upstream put+it+upstream",
    "wrong": "no+idea+what+happened no+clue+what+happened",
}
