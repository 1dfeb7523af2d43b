"""The English phrases that tell the router something, by class (`tags`).  Pure data.

The words of a phrase are joined by ``+``; the longest that stands at a place is taken.
"""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "please": """
        help+me+to help+me you+know i+mean kind+of sort+of thank+you go+ahead+and feel+free+to
        i'd+like+to i'd+like+you+to i+would+like+to i+would+like+you+to i+want+to
        i+want+you+to i+need+to i+need+you+to i+wanna i'd+love+to i'd+love+you+to we+need+to
        we+want+to we'd+like+to we+have+to i+have+to you+need+to you+have+to you+should let+us
        let+me be+honest quick+one it's+time+to time+to try+to try+and be+sure+to remember+to
        don't+forget+to make+sure+to if+you+can if+possible when+you+can when+you+have+time
        for+me as+well one+more+thing good+morning good+afternoon good+evening first+of+all
        do+me+a+favor+and do+me+a+favour+and want+you+to need+you+to like+you+to
        your+job+is+to the+goal+is+to goal+is+to my+request+is+to i'm+asking+you+to
        i+am+asking+you+to going+to i+need+a+hand+with
    """,
    "canyou": """
        can+you could+you would+you will+you can+u could+u can+ya would+you+mind do+you+mind
        could+you+please can+you+please can+someone could+someone can+somebody
        any+chance+you+could any+chance+you+can any+chance+of is+there+any+chance+you+could
        i+wonder+if+you+could wondering+if+you+could wonder+if+you+could
        i+was+wondering+if+you would+it+be+possible+for+you+to it+would+be+great+if+you+could
        it'd+be+great+if+you+could it+would+be+nice+if+you+could i'd+appreciate+it+if+you
        would+appreciate+it+if+you can+you+just can+you+help+me could+you+help+me mind+if+you
        are+you+able+to can+you+maybe
    """,
    "it": "there+is there+are there+was there+were",
    "is": "it's+not",
    "prep": "like+this",
    "should": "can+we could+we may+i may+we can+i could+i shall+we",
    "want": "would+like",
    "without": "instead+of rather+than not+to",
    "neg": """
        do+n't don+t dont+you avoid+: never+: stop+: stop+, no+: don't+: do+not+: forbidden+:
        prohibited+: not+allowed+: off+limits nobody+should nobody+may nobody+must nobody+shall
        nobody+can nobody+is+to nobody+is+allowed nobody+gets+to nobody+touches nobody+pushes
        nobody+runs nobody+commits no-one+should no+one+should no+one+may no+one+must
        no+one+is+to no+one+shall none+of+you none+of+us i+forbid i+forbid+you i+prohibit
        i+prohibit+you we+forbid you+are+forbidden you're+forbidden you+are+not+to you're+not+to
        you+are+not+allowed you're+not+allowed you+aren't+allowed you+have+no+permission
        you+have+no+right you+mustn't you+cannot+just cannot+allow+you can't+allow+you
        won't+allow+you will+not+allow+you can't+let+you cannot+let+you won't+let+you
        it+is+forbidden it's+forbidden is+forbidden+to it+is+prohibited it's+prohibited
        there+is+no+reason there's+no+reason there+is+no+need there+is+no+point there's+no+point
        no+point+in i'd+rather+you+did+not i+would+rather+you+did+not i'd+prefer+you
        i'd+prefer+that+you+don't i'd+prefer+you+didn't i'd+prefer+not i+would+prefer+not
        whatever+you+do+,+don't whatever+you+do+don't whatever+you+do+,+do+not
        whatever+you+do+,+never on+no+account by+no+means at+no+point in+no+case desist
        no+patch no+patches no+diff no+diffs no+fix+please no+fixes no+rewrite no+rewrites
        no+refactor no+refactoring no+action no+actions no+deploy no+push no+commit no+deletions
        not+now not+today not+a+chance
        do+not no+need+to no+need please+don't avoid+running avoid+changing stop+running
        no+changes no+edits no+change no+more no+edit hold+off refrain+from there's+no+need
        i+don't+want i+do+not+want we+don't+want you+don't+need+to no+reason+to not+yet
        leave+alone you+must+not we+must+not you+should+not we+should+not you+shouldn't
        we+shouldn't make+sure+you+don't make+sure+not+to be+careful+not+to let's+not lets+not
        you+may+not you+can't+just don't+you+dare i'd+rather+you+didn't
        i+would+rather+you+didn't i+didn't+ask+you i+never+asked+you nobody+asked+you
        i+didn't+say nobody+said i+never+said under+no+circumstances avoid+trying refuse+to
        leave+it leave+everything leave+my leave+the+code hands+off keep+your+hands keep+off
        read+only no+touching no+touch no+modifications no+code+changes no+code no+commits
        no+pushing no+running nothing+should+be touch+nothing stay+away keep+away steer+clear
        forget+about scrap+that cancel+that stand+down hold+on hold+it hold+your+horses
        wait+for+me wait+until wait+before keep+everything keep+the+code+as
    """,
    "cannot": """
        does+not did+not is+not are+not was+not will+not can+not could+not has+not have+not
        no+longer never+finishes fails+to failed+to do+nothing does+nothing dont+work
        don't+work do+not+work nothing+happens nothing+works
    """,
    "why": """
        how+come whats+the+reason why+can't why+cant why+won't why+wont why+can+i+not
        why+doesn't+it+work why+isn't+it+working why+is+it+not+working why+doesn't+this+work
        how+come+i+can't why+does+it+keep why+do+i+get why+am+i+getting why+am+i+seeing
        why+do+i+see why+are+we+getting why+do+we+get why+is+it+so+slow
    """,
    "what": "which+is what+is",
    "where": """
        what+calls what+uses what+imports what+references what+depends+on who+imports
        which+module which+modules which+file which+files what+file what+files which+function
        which+functions which+class which+classes which+folder which+directory which+package
        which+component which+components which+endpoint which+endpoints which+test which+tests
        which+line which+lines which+place which+places how+many+files how+many+places
        how+many+times+is how+many+usages how+many+functions how+many+tests any+place
        every+file+that all+files+that all+the+files files+that+use anywhere+we used+anywhere
        still+used in+use anywhere+else entry+point+for in+what+file in+which+file
        in+which+module
    """,
    "whether": """
        what+happens what+breaks what+would what+will will+that would+that does+that
        is+it+safe is+it+ok is+it+okay is+it+possible is+it+a+good+idea
        would+it+be+a+good+idea does+it+make+sense what+happens+if what+happens+when
        what+would+happen would+it+be+better would+it+make+sense is+it+fine is+it+better
        is+it+necessary do+i+need do+we+need do+i+have+to do+we+have+to what+if
        am+i+supposed+to are+we+supposed+to wondering+if wonder+if is+that+safe is+that+ok
        is+that+okay is+that+right is+this+ok is+this+okay is+this+right will+that+break
        would+that+break is+that+a+good+idea is+this+a+good+idea good+idea bad+idea
        is+that+bad is+it+bad is+that+possible is+that+wise would+that+help would+it+help
        would+this+help will+that+work would+that+work will+it+work would+it+work
        does+that+work does+that+make+sense makes+sense any+downside any+downsides any+harm
        any+risk any+risks any+danger any+drawback worth+it is+it+worth would+you+recommend
        have+you+tried what+about is+it+a+bad+idea is+there+a+way is+there+any+way
        is+there+a+good+way not+sure+if not+sure+whether unsure+whether unsure+if can't+decide
        whether+or+not or+not safe+to risky+to dangerous+to ok+to okay+to wise+to thinking+of
        thinking+about in+theory
    """,
    "and": "also+please followed+by",
    "but": "just+only",
    "when": "as+soon+as so+that in+order+to even+though",
    "rel": "that+is that+are who+is which+are",
    "change": """
        clean+up speed+up rip+out factor+out take+out pull+out hook+up wire+up set+up
        switch+to turn+on turn+into sort+out help+me+fix document+the address+the stop+logging
        stop+using start+using use+the pull+the raise+the make+sure have+the return+a
        bundle+the wait+for hide+the display+a replace+the comment+out sync+the+two
        implement+a abort+if have+it reject+requests reject+empty phase+out stringify+the
        read+the store+the email+the tell+the+user require+a squash+the cancel+the+request
        render+x swap+out throw+in whip+up knock+up beef+up spruce+up tone+down thread+through
        bubble+up patch+up cook+up come+up+with put+together bolt+on bake+in hide+away tidy+up
        polish+up beautify+the trim+down cut+down scale+down scale+up slim+down strip+out
        pull+in bring+in move+out carve+out break+up break+out chop+up rename+the reset+the
        rework+the rewrite+the sanitise+the secure+the simplify+the sort+the suffix+the
        swap+the teach+it throttle+the tighten+up trim+the undo+the unify+the unroll+the
        wrap+the zero+out optimise+the gate+the guard+the harden+the make+the make+this
        make+that make+it make+all make+every make+sure+that fall+back assume+that pass+the
        pass+in pass+along reuse+the apply+the+fix lay+out bump+up bring+back bring+the
        carry+over cater+for extend+the fetch+the finish+the flesh+out follow+the inform+the
        inspect+the kick+out leave+out level+up line+up list+the+users look+better loosen+up
        make+up mention+in mirror+the number+the order+the+list parse+the persist+the
        place+the point+the prepend+a print+the publish+an+event push+down put+in query+the
        raise+an read+from reduce+the relax+the remember+the remind+the remind+users
        render+the resize+the restart+on retry+on roll+up rotate+the route+the save+the
        send+an send+the separate+the serve+the set+the shift+the ship+a sign+the silence+the
        specify+the split+the start+with stash+the stop+the stop+users store+in style+the
        suppress+the swallow+the switch+over tag+the time+out touch+up trace+the+requests
        track+the truncate+the type-check+the unescape+the use+a use+an verify+the+token
        vendor+the warn+the warm+up watch+for
    """,
    "run": """
        kick+off fire+up spin+up start+up run+through have+a+go+at bring+up give+the+tests
        give+it+a+spin give+it+a+run fire+off try+out stand+up do+a+build do+a+full+build
        do+a+clean+build do+a+test+run do+a+dry+run do+a+run dry+run make+a+build
        get+the+tests+going get+the+app+running get+the+server+up get+the+server+running
        bring+the+server+up put+the+tests+through seed+the apply+the+migrations
        apply+migrations run+through+the shut+down have+another+go+at give+the+suite
        reload+the+server boot+up start+it hit+run try+the+tests do+another+run
        format+the+code format+code reformat+the+code format+everything format+the+project
        format+the+repo format+all try+running
    """,
    "test": """
        pytest+suite type+check unit+tests integration+tests check+types e2e+tests
        regression+tests test+suite coverage+report type+checker playwright+tests dev+server
        smoke+test smoke+tests test+run full+build clean+build debug+build release+build
        lockfile+install formatting+check format+check
    """,
    "find": """
        look+for look+up hunt+down track+down dig+up search+for find+me list+all show+all
        dig+out fish+out point+me+to point+me+at take+me+to get+me+the+file looking+for
        i'm+looking+for i+am+looking+for trace+all spot+all scan+for scan+the+code+for
        search+through comb+through go+find pick+out round+up find+out+where find+out+which
        find+out+who open+the+file open+file show+the+file show+me+the+file pull+up+the+file
        bring+up+the+file
    """,
    "explain": """
        walk+me+through walk+us+through talk+me+through clarify+how give+me+an+overview
        give+an+overview help+me+understand teach+me tell+me+about tell+me+more break+down
        i+don't+understand i+don't+get i+do+not+understand don't+understand don't+get
        don't+really+get i+don't+really+get i'm+confused overview+of an+overview+of
        explain+to+me shed+light+on make+sense+of want+to+understand
    """,
    "ask": """
        know+why tell+me explain+why do+you+know i+want+to+know i'd+like+to+know want+to+know
        like+to+know let+me+know is+there+a+reason what's+the+point what+is+the+point
        what's+the+difference what+are+the+differences what's+the+purpose pros+and+cons
        meaning+of purpose+of what's+going+on+in remind+me i'm+trying+to+understand
        trying+to+understand thoughts+on what+do+you+think+about
    """,
    "review": """
        look+over give+feedback+on give+me+feedback+on feedback+on look+it+over look+this+over
        look+that+over look+them+over go+over point+out second+opinion+on sanity+check
        have+a+look+at+my second+pair+of+eyes+on peek+at glance+at eyes+on cast+an+eye+over
        take+another+look+at give+me+your+opinion+on opinion+on opinions+on read+through
        read+over smell+test inspect+my lgtm+check comment+on code+review second+look
    """,
    "debug": """
        look+into figure+out find+out dig+into find+the+cause find+the+root+cause
        find+the+reason track+down+why find+out+why get+to+the+bottom+of work+out
        find+out+what look+at+why see+why check+why find+what what's+up narrow+down
        hunt+for+the+bug sort+out+why chase+down get+to+the+root
    """,
    "push": """
        back+up push+it put+up get+up save+to push+the+fix ship+the+fix publish+my
        get+this+upstream get+it+upstream send+upstream ship+my push+up push+out force+nothing
        push+my push+all push+everything git+push deliver+my let+the+remote squash+and+push
        wrap+up+my hand+in put+it+on+github
    """,
    "commit": """
        check+in stash+and commit+the+fix make+a+commit create+a+commit stage+and+commit
        wip+commit snapshot+my put+this+in+git put+it+in+git check+this+in check+it+in
        check+everything+in git+commit do+a+commit commit+all commit+everything add+and+commit
        stage+everything record+my save+a+checkpoint checkpoint+my log+my+work tag+the+release
        open+a+pr open+a+pull+request create+a+pr create+a+pull+request make+a+pr
        make+a+branch create+a+branch stash+my save+my+work save+everything save+all+my
        save+my+progress save+progress save+what+i save+my+stuff save+it+to+git
        save+this+to+git
    """,
    "look": """
        take+a+look have+a+look look+at take+a+look+at have+a+look+at a+look any+idea
        any+ideas any+clue any+thoughts+on+why
    """,
    "show": "show+me display+the give+me list+the show+my list+my",
    "help": """
        docs+for+you what+can+you+do what+do+you+do who+are+you what+are+you what+can+i+ask
        what+can+i+do what+do+you+support what+can+you+help available+commands how+to+use+you
    """,
    "status": """
        what+happened+to go+through went+through update+on state+of status+of news+on
        in+the+queue the+queue
    """,
    "task": "refactor+i+asked approval+request",
    "done": "in+progress working+on",
    "diff": """
        what+did+i+change what+have+i+changed what+i+changed what+has+changed what+changed
        what's+changed last+commit latest+commit last+commits recent+commits my+commit
        this+commit the+commit my+patch this+patch my+change this+change my+fix my+refactoring
        my+code latest+changes recent+changes local+changes patch+set pull+request
        pull+requests merge+request working+copy working+tree my+work work+tree what+i+did
        what+i+wrote what+i+have+so+far what+i've+done what+i+just+did what+i+just+wrote
        what+i+just+changed the+code+i+wrote code+i+wrote code+i+just+wrote i+just+wrote
        i+wrote i+just+changed i+changed i+touched i+added i+modified i+edited
        my+implementation my+solution my+approach modified+files changed+files files+i+changed
        files+i+touched did+i+touch did+i+change did+i+modify have+i+touched have+i+changed
        what's+in+my working+directory my+stash last+3+commits last+two+commits
        last+few+commits recent+work my+last my+latest my+recent today's+changes
        yesterday's+changes local+edits feature+branch current+branch
    """,
    "fail": """
        timing+out stack+trace stack+traces race+condition something's+off not+working
        doesn't+work does+not+work stopped+working stops+working keep+getting out+of+memory
        too+big too+slow too+long goes+white goes+blank acting+up messed+up screwed+up
        permission+denied no+such+file connection+refused cut+off white+screen black+screen
        outdated+data off+by+one goes+down went+down down+again not+found never+ends
        duplicate+rows off+by out+of+sync doesn't+add+up don't+add+up upside+down
        never+arrives never+arrive never+loads never+returns double+charged out+of+date
        exit+code core+dump reset+by+peer connection+reset crashing+on obsolete+data
        swapped+out
    """,
    "weak": "again+and+again old+value nothing+in the+old",
    "thing": """
        suite+file button+handler table+row page+title dark+mode queue+worker message+queue
        staging+env node+version cache+layer label+text colour+scheme color+scheme
        theme+switcher search+box worker+pool group+policy webhook+url backup+job map+view
        exception+class base+class subclass+name hash+function header+row request+body
        status+code status+codes rate+limit rate+limiter retry+logic timeout+value
        variable+name log+level log+file log+files license+file linter+config
        migrations+folder fixtures+dir snapshot+tests mock+server stub+server cli+tool
        shell+script bash+script push+token cors+policy origin+header
    """,
    "occur": "usage+of reference+to everywhere+that all+places every+place every+usage every+use",
    "use": "depends+on",
    "remote": "server+repo the+repo the+repository main+branch the+server",
    "with": "with+message with+the+message with+a+message with+commit+message",
    "exists": """
        is+there+any are+there+any is+there+a is+there+an is+there anything+using
        anything+that+uses anything+that any+code+that any+code got+any do+we+have do+we+still
        does+anything does+anyone does+anybody does+any is+anyone is+anybody is+anything
        any+file any+files have+we+got do+we+already are+there is+there+some
        is+there+something is+x+used anything+calling anything+else
    """,
    "asksbot": "do+you are+you do+u are+u have+you did+you were+you",
    "desire": """
        we+need i+need we+want i+want i'd+like we'd+like there+should+be it+should
        would+be+nice it'd+be+nice would+be+great would+love needs+to+be need+to+be needs+to
        should+be should+have should+show should+return should+not shouldn't+be should+only
        should+also should+always should+never should+use should+say has+to+be must+be
        must+not must+have ought+to+be we+could+use we+should i+would+like i+would+love
        we'd+love could+use is+supposed+to+be is+missing+a are+missing+a i'd+prefer
        we'd+prefer i+prefer would+prefer would+be+cool would+be+better would+make+sense+to
        i+wish how+about what+about+adding should+look should+open should+close should+go
        should+work+like should+stay should+come should+default should+accept should+allow
        should+reject should+fail should+throw should+log should+support should+take
        should+appear should+start should+end should+stop should+redirect should+include
        should+exclude should+contain should+live should+match should+happen should+read
        should+run should+send should+save should+store should+display should+default+to
        must+support must+accept must+use must+return must+show must+only
    """,
    "approve": """
        accept+this sign+off prompt+me approval+step approval+prompt approval+process
        confirmation+step confirmation+prompt approval+dialog confirmation+dialog+for+me
        approval+popup accept+the accept+my accept+that allow+the seal+code approval+code
        confirmation+code the+seal seal+is code+is type+the+code enter+the+code click+approve
        click+yes click+ok click+accept press+approve press+yes press+enter hit+approve
        tap+approve thumbs+up green+light signed+off always+allow allow+all allow+everything
        allow+any remember+my+choice whitelist+me cleared+to my+consent my+word i'm+authorized
        i+am+authorized my+authority my+responsibility i+take+responsibility i'm+the+owner
        i+am+the+owner i'm+the+admin i+am+the+admin as+admin as+the+admin as+root i'm+the+boss
        i+own+this on+my+behalf my+blessing i+vouch my+name+on human+in+the+loop the+gate
        sign-in+check safety+check safety+checks
    """,
    "yes": """
        ship+it go+ahead go+for+it do+it just+do+it looks+good i+agree permission+granted
        go+on carry+on sounds+good sounds+great looks+fine merge+it yes+please do+so
        consider+it make+it+so push+it+through i+authorize i+allow i+hereby please+proceed
        accept+it allow+it let+it+run let+it+through let+it+go you+may you+may+proceed
        you+can+go you+can+run you+can+proceed you+can+go+ahead you+can+start i'm+fine+with
        i'm+ok+with i'm+okay+with i+am+fine+with works+for+me that+works all+good good+to+go
        good+from+my+side fine+by+me fine+with+me no+objections i'm+good of+course
        by+all+means make+it+happen execute+it fire+away let's+go lets+go yeah+do+it
    """,
    "noask": """
        stop+asking stop+asking+me without+asking without+asking+me don't+ask don't+ask+me
        dont+ask no+need+to+confirm no+need+to+ask no+need+to+approve no+confirmation
        stop+prompting never+ask no+approval+needed no+approval no+questions+asked
        don't+prompt don't+bother+asking automatically+approve no+need+for+approval
        no+need+for+confirmation stop+nagging stop+nagging+me just+apply stop+bothering
        stop+bugging without+confirmation without+my+approval without+approval
        without+any+approval no+more+confirmations no+more+approvals no+more+dialogs no+popups
        no+dialogs without+waiting+for+me without+confirming without+prompting
        without+my+confirmation don't+wait do+not+wait no+need+to+wait without+waiting
        dont+wait trust+me i+trust+you never+ask+me+again stop+the+prompts stop+the+dialogs
        no+prompts skip+the+prompt skip+the+popup skip+confirmation skip+confirmations
        skip+approvals skip+approval skip+the+approval skip+the+confirmation bypass+approval
        bypass+the+approval ignore+the+approval ignore+approvals override+the+approval
        force+approve auto+accept auto+approve yolo+mode silently+run bypass+the+dialog
        skip+the+dialog skip+the+dialogs without+the+dialog bypass+the+prompt
        bypass+the+confirmation bypass+confirmation bypass+approvals
    """,
    "greet": """
        hello+there good+night hi+there hey+there you+around are+you+there are+you+around
        anyone+there anybody+there nice+work good+job great+job well+done much+appreciated
        appreciate+it you+rock got+it good+bot cool+thanks ok+thanks never+mind no+worries
        testing+testing test+test how+are+you how+are+you+doing tell+me+a+joke i+love+you
        what+time+is+it what's+the+weather wrong+chat wrong+window good+one wake+up
        have+a+nice+day see+you see+ya happy+friday long+time+no+see nice+to+meet+you
        pleased+to+meet+you accept+cookies
    """,
    "undo": "roll+back",
    "standing": """
        where+are+we where+are+we+with where+do+we+stand what+happened+to+my
        what+happened+to+the+task how's+it+going hows+it+going how+is+it+going
        how's+that+going how+far+along how+far how+far+are+you any+update any+updates
        any+update+on any+news any+news+on any+progress any+progress+on
        what+are+you+working+on what+are+you+doing what+are+you+up+to how's+my how+is+my
        how+are+my what+is+running what's+running what's+pending what's+waiting how+long+until
        progress+report status+report status+update are+you+done are+you+still
        are+you+finished have+you+finished is+it+done is+it+ready is+it+finished
        how+much+longer did+it+work is+it+working+yet are+we+there+yet what's+left
        what+is+left still+waiting when+will+it+be+done when+will+it when+will+that
        any+results anything+new what+did+you+do what+have+you+done did+you+get+my
        did+you+see+my did+you+receive last+task last+result latest+result what+came+out+of
        how+did+it+go how+did+that+go how's+everything what's+happening+with what's+the+latest
        what's+the+holdup still+running still+going all+done done+yet ready+yet finished+yet
        what's+next is+anything+running anything+running anything+pending anything+waiting
        what+happened+with does+anything+need is+the+agent is+my+machine is+my+laptop
        is+the+bot is+my+computer which+machine my+queue you+finished how+many+tasks
        what+tasks which+tasks my+tasks my+requests open+requests pending+requests
        pending+approvals waiting+for+approval waiting+for+my+approval waiting+on+me
        waiting+for+me need+my+approval needs+my+approval did+you+start have+you+started
        is+there+anything+i+need what's+the+hold+up how's+my+request did+that+finish
        did+this+finish still+on+it you+done where+did+we+leave+off current+tasks recent+tasks
        running+tasks open+tasks show+running task+history my+history needs+my+attention
        need+my+attention what+did+i+ask when+did+you what+became+of how+goes how+goes+it
        how's+that+coming how+is+that+coming coming+along any+luck any+luck+with what's+taking
        what+is+taking been+approved is+that+done is+this+done did+it+finish did+it+go
        did+it+run did+it+pass did+it+succeed did+that+work did+you+push did+you+fix
        did+you+run did+you+finish did+you+do have+you+pushed have+you+fixed have+you+run
        have+you+done are+you+working are+you+running are+you+on are+you+busy are+you+free
        are+you+online are+you+ready are+you+up what's+your+status where+does+my
        where+is+my+task where's+my+task where's+my+request on+track what+stage
        when+do+you+expect catch+me+up fill+me+in report+back bring+me+up+to+speed on+my+plate
        today's+tasks last+heartbeat how+much+time+is+left how+much+is+left
        what+did+you+end+up is+it+my+turn what's+it+waiting what+is+it+waiting
        give+me+an+update give+me+a+status update+me keep+me+posted where+is+it+at
        where's+it+at what's+the+progress eta+on eta+for any+eta quick+update status+of+my
        state+of+my
    """,
    "wrong": """
        what's+wrong whats+wrong what+is+wrong what's+up+with what+went+wrong what+goes+wrong
        what's+going+on what's+happening what's+broken what's+failing what+happened+here
        what's+causing what+is+causing the+cause+of root+cause whats+going+on what+broke
        what+causes what+caused what+could+be+wrong what+might+be+wrong what+is+breaking
        what's+breaking what+is+failing what+makes+it what's+making what+is+making
        what's+eating what+is+eating what's+blocking what+is+blocking
    """,
    "edit": "translate+x show+a",
    "botask": """
        can+you+write+code can+you+see can+you+access can+you+read can+you+hear
        can+you+understand can+you+speak can+you+remember can+you+learn can+you+access+my
        do+you+support do+you+speak do+you+have+access do+you+store do+you+remember
        do+you+work do+you+run are+you+a are+you+an are+you+able are+you+using are+you+gpt
        who+made+you who+built+you what+model what+models which+model is+this+a+bot
        is+this+bot how+do+you+work how+can+you what+else+can+you what+all+can+you
        what+are+you+able what+are+you+capable what+can+i+type what+should+i+type what+to+type
        what+can+i+say is+there+a+manual is+there+documentation is+there+a+guide
        is+there+a+list+of+commands what+kind+of+things list+of+commands your+commands
        list+your user+guide cheat+sheet how+to+start how+do+i+start how+do+i+get+started
        getting+started get+started what+can+i+ask+for what+things+can introduce+yourself
        about+you your+capabilities what+is+codexbridge what+do+you+need what+can+this
        this+bot the+bot which+version+are+you what+version+are+you about+this+bot
        are+you+chatgpt are+you+human who+wrote+you who+can+use+you can+i+use+you use+you
        i'm+lost i+am+lost i+need+a+hand i'm+stuck+what assist+me show+usage usage+please
        teach+me+the+commands how+much+do+you+cost are+you+free+to+use is+this+free
        do+you+have+a your+name your+purpose your+job your+limits your+limitations
        limitations+of+this what+can't+you what+cannot+you what+you+can how+you+work
        use+this+bot use+the+bot use+this+thing will+you+change will+you+ask will+you+run
        do+you+ask would+you+ask can+you+do+anything can+you+help can+you+help+me+with
        what+you+do new+here just+joined first+time+here first+time+using
    """,
    "gist": "tldr+of crash+course",
    "off": "turn+off stop+showing get+rid+of switch+off",
    "cause": "reason+for source+of root+of origin+of reason+why",
    "quality": """
        any+concerns anything+missing+in any+mistakes look+right look+ok look+okay look+good
        looks+ok looks+right look+sane look+correct correct+so+far
    """,
    "pull": """
        pull+the+latest pull+latest fetch+the+latest get+the+latest get+latest merge+main
        merge+master update+from+remote update+from+main update+my+branch sync+my+fork
        pull+from pull+down git+pull git+fetch bring+my+branch+up+to+date merge+into
        merge+to+main merge+upstream
    """,
    "failed": """
        errors+out blew+up blows+up times+out timed+out takes+forever takes+ages
        takes+too+long
    """,
    "make": "do+a do+another do+the have+a take+a",
    "verdict": """
        ready+to+merge good+to+merge safe+to+merge ok+to+merge okay+to+merge
        good+enough+to+merge anything+suspicious any+red+flags any+smells any+code+smells
        did+i+break did+i+miss did+i+forget have+i+missed have+i+forgotten have+i+broken
        anything+i+missed anything+i+forgot anything+wrong+with anything+off+with
        any+problems+with any+issues+with any+issues+in any+bugs+in any+problems+in
        any+mistakes+in
    """,
    "count": "how+many",
    "askdone": """
        did+it did+that did+my did+the+last has+it has+that has+my have+they did+everything
        has+everything is+everything has+anything did+anything was+it was+that was+my were+my
        has+the+task did+the+task did+the+agent has+the+agent has+codexbridge
    """,
    "faring": "getting+on",
    "domain": """
        pair+my pair+a seal+codes my+phone my+data audit+log codexbridge+agent
        default+workspace
    """,
    "nature": "difference+between what+is+the+difference",
}
