"""More English words of questions, reviews, git and failures, by class (`tags`).  Pure data.

The words of a phrase are joined by ``+``; the longest that stands at a place is taken.
"""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "where": """
        what+else+touches what+else+uses what+else+calls what+touches what+reads what+writes
        what+invokes what+triggers what+defines what+implements what+extends what+inherits
        what+subscribes what+listens what+consumes what+produces who+calls who+uses who+invokes
        who+reads who+writes+to who+touches who+references who+depends who+consumes who+else+calls
        who+else+uses which+source which+sources which+script which+scripts which+config
        which+method which+methods which+services which+service which+route which+routes which+page
        which+pages which+view which+views which+table which+tables which+header which+headers
        which+commit which+queries which+query which+handler which+handlers which+controller
        which+controllers which+template which+templates which+migration which+code
        which+part+of+the+code which+parts+of+the+code which+repo which+crate which+crates
        which+packages which+folders which+directories which+types which+struct which+structs
        which+interface which+interfaces which+hook which+hooks which+workflow which+workflows
        which+job+runs which+spec which+specs what+module what+modules what+function what+functions
        what+class what+classes what+folder what+directory what+package what+component
        what+components what+tests what+test what+line what+script what+scripts what+places
        what+endpoints what+endpoint in+what+module in+what+folder in+which+folder
        in+which+directory in+which+class in+which+function in+which+package at+which+line
        on+which+line on+what+line from+where where+do+we where+does where+is where+are where+did
        where+was where+were where+can+i+find where+could+i+find where+would+i+find where+in
        where+exactly where+abouts where+else how+many+calls how+many+callers how+many+references
        how+many+todos how+many+occurrences how+many+classes how+many+lines how+many+modules
        how+many+endpoints how+many+components how+many+times+do how+many+times+does
    """,
    "review": """
        code+review+of a+review+of could+i+get+a+review can+i+get+a+review can+we+get+a+review
        may+i+have+a+review need+a+review needs+a+review do+a+review give+it+a+review
        do+a+code+review give+me+a+review honest+opinion your+opinion your+opinion+on
        your+honest+opinion your+thoughts your+thoughts+on your+take your+take+on your+view
        your+verdict your+verdict+on your+feedback your+feedback+on your+review your+judgment
        your+judgement your+two+cents your+2+cents what's+your+take what+is+your+take
        what+do+you+make+of what+do+you+say+to how+do+you+like do+you+like+my tear+apart
        tear+it+apart rip+apart pick+apart pick+holes+in poke+holes+in poke+holes be+brutal
        be+picky be+harsh be+critical be+ruthless critical+look critical+look+at critical+eye
        critical+eye+over close+look+at closer+look+at a+careful+look+at careful+look+at
        quick+look+at+my hard+look+at good+look+at give+a+look give+it+a+look give+this+a+look
        give+them+a+look have+a+critical+look take+a+critical+look fresh+eyes fresh+pair+of+eyes
        fresh+eyes+on another+pair+of+eyes pair+of+eyes second+set+of+eyes extra+eyes eyeballs+on
        run+your+eye run+an+eye+over cast+your+eye quick+scan+of skim skim+through skim+over
        nitpicks nit+pick nits any+nits peer+review self-review self+review pre-review code-review
        cr+please pr+review design+review security+review security+audit audit+my audit+the
        sanity-check+my sanity+check+my double+check+my double+check+the double+check cross-check
        cross+check check+my+code check+my+changes check+my+diff check+my+work check+my+patch
        check+my+commit check+my+branch check+my+pr check+my+fix check+my+implementation
        check+my+logic check+my+script check+my+function check+my+solution check+my+approach
        check+what+i+did check+what+i+wrote look+over+my look+at+my+code look+at+my+changes
        look+at+my+patch look+at+my+pr look+at+my+diff look+at+my+branch look+at+my+commit
        look+at+my+work look+at+my+implementation look+at+my+solution look+at+what+i
        can+somebody+review is+my+code+good is+my+implementation is+my+solution is+my+approach
        is+my+change is+my+fix is+my+patch is+my+diff is+my+pr is+my+branch is+my+work
        are+my+changes are+my+edits are+my+tests+good does+my+code does+my+change does+my+fix
        does+my+patch does+my+implementation does+my+approach does+my+branch does+my+diff
        do+my+changes do+my+edits have+i+done did+i+do+this did+i+do+it did+i+do+that did+i+get+it
        did+i+get+this did+i+mess did+i+overlook did+i+introduce have+i+overlooked
        have+i+introduced have+i+messed what+did+i+miss what+did+i+get+wrong what+have+i+missed
        what+am+i+missing+in what+did+i+forget what+would+you+criticize what+would+you+criticise
        what+would+you+improve what+could+i+improve what+can+i+improve what+should+i+improve
        what+would+you+change how+could+i+improve+my how+can+i+improve+my how+does+my+code
        how+does+my+change how+does+my+patch how+does+my+diff how+does+my+pr how+does+this+look
        how+does+it+look how+do+my+changes how+is+my+code how's+my+code how+good+is+my
        would+you+merge would+you+approve+this+pr would+you+sign+off+on would+this+pass+review
        will+this+pass+review pass+code+review pass+review ready+for+review up+for+review
        fit+to+ship fit+to+merge ready+to+ship ready+to+land ready+to+go+in okay+to+ship ok+to+ship
        safe+to+ship anything+fishy anything+odd anything+weird anything+dodgy anything+smelly
        anything+ugly anything+risky anything+dangerous anything+i+should+fix anything+to+improve
        anything+you'd+change anything+that+smells anything+obviously+wrong anything+embarrassing
        am+i+missing is+this+idiomatic is+it+idiomatic is+this+clean is+this+readable
        is+this+correct is+it+correct is+this+good is+this+any+good is+it+any+good is+it+good
        is+it+good+or+not good+or+not good+or+bad rate+my grade+my judge+my score+my roast+my
        evaluate+my assess+my assess+the+risk critique+my comment+on+my feedback+please
        feedback+welcome thoughts+please comments+please opinions+please suggestions+please
        suggest+improvements suggestions+for+improvement improvement+suggestions any+suggestions
        any+feedback any+comments any+remarks any+thoughts+on any+thoughts any+improvements
        any+objections+to worried+about+my not+sure+about+my not+sure+about+it not+happy+with+my
        unsure+about+my nervous+about+my i+worry+that+i i'm+worried+i i+fear+i i+may+have+broken
        i+might+have+broken i+may+have+missed i+might+have+missed i+may+have+forgotten
        i+might+have+forgotten i+probably+broke i+hope+i+didn't hope+i+didn't
    """,
    "push": """
        to+the+remote+with send+it+off send+them+off send+off send+it+up send+up send+my
        send+out+my send+to+github send+to+origin send+to+the+remote send+to+remote ship+off
        ship+it+to+origin ship+to+remote ship+these ship+those ship+everything ship+all get+it+onto
        get+this+onto get+my+work+onto get+my+changes+onto get+it+on+github get+it+to+github
        get+my+work+to get+these+onto get+them+onto get+it+to+the+remote get+it+to+origin
        get+it+up+on get+it+pushed get+this+pushed get+them+pushed get+these+pushed
        get+everything+pushed committed+and+pushed bring+it+to+the+remote bring+my+work+to
        put+it+on+origin put+it+on+the+remote put+it+on+gitlab put+this+on+github
        put+them+on+github put+my+work+on put+my+changes+on put+my+commits+on
        put+everything+on+github put+it+upstream put+my+branch+on back+it+up+to back+my+work+up
        back+up+my back+up+to backup+my backup+to upload+it upload+my upload+to upload+the+commits
        upload+the+branch upload+everything deliver+it+to deliver+to deliver+the+commits
        publish+the+branch publish+this+branch publish+branch publish+my+branch publish+the+commits
        publish+it+to transfer+my transfer+it+to transfer+the+commits mirror+to+github
        mirror+to+origin sync+to sync+with sync+it sync+my sync+up+with sync+everything
        sync+the+repo sync+the+branch reflect+my let+origin+have let+github+have make+it+public+on
        make+my+branch+available make+my+commits+available share+my+branch share+my+commits
        share+my+work+on hand+over+to+the+remote commit-and-push push-and-commit commit/push
        commit&push commit+n+push commit+then+push commit+&+push commit+push save+and+push
        add+commit+push add,commit,push land+my land+it land+this+on stick+it+on+github
        chuck+it+on+github throw+it+on+github check+my+work+in+and+push off+to+origin off+to+github
        up+to+origin up+to+github up+to+gitlab to+origin+please to+github+please
    """,
    "commit": """
        check+my+work+in check+in+my check+my+changes+in check+these+in check+them+in
        check+those+in check+all+in check-in+my get+it+committed get+this+committed
        get+everything+committed get+my+changes+committed put+in+a+commit put+it+in+a+commit
        put+this+in+a+commit put+that+in+a+commit put+them+in+a+commit put+everything+in+a+commit
        in+one+commit into+one+commit into+a+commit as+one+commit as+a+commit in+a+single+commit
        into+a+single+commit bundle+into+a+commit wrap+it+in+a+commit wrap+this+in+a+commit
        commit+it commit+this commit+that commit+these commit+those commit+them commit+my
        commit+our commit+the+work commit+the+changes commit+the+rest commit+what commit+whatever
        commit+just commit+only commit+with commit+to commit+on commit+as commit+and save+to+git
        save+in+git save+the+state+in+git save+a+snapshot take+a+snapshot store+it+in+git
        store+this+in+git store+in+git store+my+changes store+my+work store+my+progress
        record+the+changes record+it+in+git record+this+in+git put+into+git
        put+into+version+control under+version+control into+version+control stash+it stash+this
        stash+that stash+everything stash+all stash+changes stash+the+changes stash+what stash+away
        stash+pop stash+apply pop+the+stash pop+my+stash apply+the+stash drop+the+stash unstash
        park+my park+my+changes park+my+work shelve shelve+my shelve+the put+my+changes+aside
        put+my+work+aside set+my+changes+aside set+my+work+aside stage+all stage+my stage+these
        stage+the stage+them stage+it stage+only stage+just stage+what unstage unstage+the amend+my
        amend+the+last amend+the+commit amend+my+last amend+the+previous amend+it
        fix+up+the+last+commit fixup+commit squash+the+last squash+my squash+these squash+those
        squash+them squash+all squash+everything squash+my+commits squash+commits squash+into
        combine+my+commits combine+the+last+commits new+branch a+new+branch branch+off branch+from
        branch+out cut+a+branch cut+a+new+branch create+branch create+a+new+branch
        make+a+new+branch start+a+branch start+a+new+branch open+a+branch open+a+new+branch
        spin+off+a+branch switch+branch switch+to+branch switch+to+the+branch switch+to+main
        switch+to+master switch+to+develop switch+back+to+main switch+back+to+master switch+me+to
        go+back+to+main go+back+to+master check+out+the+branch check+out+main check+out+master
        check+out+develop check+out+branch checkout+the+branch checkout+main checkout+master
        checkout+develop checkout+branch delete+the+branch delete+the+local+branch delete+branch
        delete+my+branch delete+the+remote+branch remove+the+branch rename+the+branch rename+branch
        rename+my+branch tag+it tag+this tag+this+commit tag+the+commit tag+the+current tag+head
        tag+a+release tag+as+v make+a+tag create+a+tag create+tag push+the+tag push+tags
        push+the+tags raise+a+pr raise+a+pull+request submit+a+pr submit+a+pull+request open+pr
        open+a+merge+request create+a+merge+request raise+a+merge+request file+a+pr put+up+a+pr
        make+a+pull+request make+a+merge+request draft+pr
    """,
    "pull": """
        rebase+on rebase+onto rebase+my rebase+it rebase+this rebase+the rebase+against
        bring+in+main bring+in+master bring+in+the+latest bring+main+into
        bring+me+up+to+date+with+main get+me+the+latest get+the+newest grab+the+latest grab+latest
        pull+in+main pull+in+master pull+in+the+latest pull+the+newest pull+the+changes
        pull+the+remote pull+everything pull+and+rebase pull+main pull+master pull+develop pull+my
        pull+it pull+origin fetch+origin fetch+upstream fetch+all fetch+everything
        fetch+from+origin fetch+from+upstream update+from+origin update+from+upstream
        update+from+master update+the+branch update+my+local update+my+checkout update+local+main
        update+my+main refresh+from+origin refresh+my+branch catch+up+with+main
        catch+up+with+origin catch+my+branch+up merge+origin merge+develop merge+my+branch
        merge+the+branch merge+this+branch merge+this+into merge+it+into merge+feature
        merge+main+into merge+master+into merge+with+main merge+with+master sync+from+upstream
        sync+with+upstream sync+from+origin sync+my+branch+with sync+with+main sync+with+master
        cherry+pick cherry-pick+the cherry-pick+commit pick+the+commit
    """,
    "fail": """
        exits+with exited+with exit+status exit+1 exits exited drains draining drained overheats
        stalls stalled stalling boom kaboom went+boom explodes exploded exploding bails bailed
        aborts aborted choke chokes choking wrecks wrecked haywire out+of+whack off+the+rails
        on+fire in+flames toast hosed fubar bricked bricks nuked+itself reruns reconnecting
        reconnects restarts+itself restarting+itself reboots reboots+itself respawns relogs
        logged+out logs+me+out kicks+me+out kicked+out signs+me+out throws+me+out sends+me+back
        resets+itself bounced+back rejected+by flagged+as miscompiles misbehaves misbehaving
        mishandles misreads misparses misrenders mistranslates miscounts miscalculates misfires
        misfiring mangles mangled garbles swallows+the eaten swallowed vanishes vanished vanish
        disappear disappearing evaporates lost+after forgets forgot+the loses losing lose
        drops+frames skips+frames laggy+as lag lagging sluggishly crawls crawling creeping slow+as
        takes+minutes takes+hours takes+an+hour takes+ten takes+20 takes+30 takes+a+minute
        takes+so+long takes+way+too+long taking+forever taking+ages taking+too+long gets+slower
        getting+slower got+slower memory+grows grows+without grows+and+grows keeps+growing
        growing+and+growing balloons ballooning creeps+up going+up+and+up through+the+roof
        maxed+out pegged pegged+at thrashing thrashes starving starvation contention livelock
        lockup locks+up locked+up locks freezing seizes seized unkillable zombie zombies orphaned
        dangling corrupts corruption desync desynced drifted drifts drifting skewed off+by+an+hour
        off+by+a+day off+by+a+few an+hour+off a+day+off one+hour+off wrong+by double+the+amount
        counted+twice charged+twice sent+twice shown+twice appears+twice shows+twice twice+in+a+row
        fires+twice runs+twice called+twice two+emails two+copies two+rows every+second+time
        every+other+time half+the+time one+in+ten some+of+the+time only+sometimes once+in+a+while
        every+now+and+then on+and+off comes+and+goes now+and+again out+of+nowhere for+no+reason
        without+warning out+of+the+blue no+output no+response no+reaction no+effect no+results
        no+data no+sound no+signal no+longer+works no+longer+loads no+longer+responds no+matter
        nothing+shows nothing+appears nothing+arrives nothing+comes nothing+loads nothing+is+shown
        nothing+is+saved nobody+can nobody+gets noone+can no+one+can users+can't customers+can't
        comes+up+empty comes+back+empty comes+out+wrong comes+out+as turns+into+garbage
        ends+up+with ends+up+in+the+wrong won't+start won't+open won't+load won't+compile
        won't+build won't+connect cuts+off cut+in+half chopped overlapping overlapped overlays
        overflowing spills spilling bleeding bleeds pixelated blurry blurred distorted
        squashed+image stretched+image ugly+artifacts artifacts ghosting tearing flashing flashed
        jumping jumpy jitters jittery shaky wobbles wobbly trembling doesn't+match mismatching
        contradicts contradictory nonsense+values negative+scores negative+values miscompiled
        misaligned+with upset unhappy barf barfs barfed whines whining screams screaming grumbles
        spits+out bombs bombed bombs+out tanks tanked craps+out crapped dies+on dying died+on
        croaks croaked gives+up gave+up goes+dark goes+black went+black went+blank went+dark
        went+silent goes+silent gone+silent heap-use-after-free use-after-free double-free
        double+free buffer-overflow heap-buffer-overflow stack-overflow null+pointer nullptr
        nullpointer null+dereference undefined+behavior undefined+behaviour data+race core+dumped
        abort+trap bus+error illegal+instruction kernel+panic kernel+oops watchdog+reset brownout
        hardfault oomkilled oom-killed crashloopbackoff imagepullbackoff evicted disk+full
        no+space+left quota+exceeded rate+limited too+many+requests too+many+open bad+gateway
        gateway+timeout service+unavailable internal+server+error name+resolution cannot+resolve
        no+route+to host+unreachable tls+handshake ssl+error certificate+expired
        expired+certificate self-signed unresolved+import cannot+find+module module+not+found
        no+module+named undefined+reference undefined+symbol undefined+method undefined+variable
        duplicate+symbol linker+error compile+error compilation+error build+error syntax+error
        type+error parse+error not+responding not+loading not+showing not+rendering not+saving
        not+updating not+refreshing not+firing not+triggered not+triggering not+sent not+received
        not+delivered not+arriving not+syncing not+starting not+building not+compiling
        not+connecting not+recognized not+recognised not+applied not+called not+respected
        not+clickable not+visible not+aligned not+persisted not+right not+correct isn't+right
        seems+off looks+off feels+off looks+wrong seems+wrong looks+weird looks+broken seems+broken
        acts+weird acts+strange behaves+oddly behaves+strangely behaves+differently
        works+on+my+machine works+locally works+in+dev works+fine+in works+on+chrome used+to+work
        was+working worked+yesterday worked+before worked+fine+until worked+until since+the+upgrade
        since+the+update since+yesterday since+this+morning since+the+last since+the+merge
        since+the+deploy after+the+upgrade
    """,
    "thing": """
        error+handling error+handler error+handlers error+page error+pages error+message
        error+messages error+toast error+banner error+dialog error+boundary error+code error+codes
        error+text error+class error+log error+logs error+reporting error+response error+responses
        error+type error+types error+state error+label error+format error+path error+wrapper
        error+copy error+icon error+colour error+color error+rate error+budget error+middleware
        error+callback error+string error+strings exception+handling exception+handler
        exception+handlers exception+type exception+types exception+hierarchy exception+message
        exception+filter failure+message failure+handling failure+case failure+rate failure+mode
        failure+count crash+report crash+reports crash+reporter crash+reporting crash+log
        crash+logs timeout+setting timeout+handling timeout+error timeout+config timeout+logic
        default+timeout request+timeout session+timeout connect+timeout connection+timeout
        read+timeout idle+timeout login+timeout http+timeout query+timeout upload+timeout
        lock+timeout the+timeout timeout+to timeout+from timeout+of retry+count retry+policy
        retry+delay retry+limit retry+mechanism retry+handler retry+interval retry+budget
        retry+button fail+message warning+banner warning+message warning+text warning+dialog
        warning+icon warning+colour warning+color warning+level warning+label empty+state
        empty+states empty+list empty+cart empty+string empty+strings empty+line empty+lines
        empty+message missing+values missing+key missing+keys bug+report bug+reports bug+tracker
        dead+code dead+letter stale+cache conflict+resolution overflow+menu overflow+hidden
        dump+file white+space blank+line blank+lines undefined+values nan+values null+check
        null+checks slow+query+log slow+log review+process review+checklist review+notes
        review+template review+queue review+form review+comments review+stars review+list
        review+score user+reviews product+reviews customer+reviews search+index search+results
        search+bar search+page search+query search+api search+field search+engine search+service
        search+endpoint search+icon search+button push+service push+notifications push+message
        push+messages push+subscription push+handler push+api commit+hook commit+hooks
        commit+template commit+message+template pull+handle pull+rate status+bar status+page
        status+field status+label status+badge status+icon status+column status+line status+message
        status+endpoint status+enum status+text approval+page approval+workflow approval+flow
        approval+button approval+api approval+table approval+status+column approval+screen
        approval+email approval+logic task+list task+queue task+table task+runner task+scheduler
        task+card task+view task+model task+service task+board task+page job+queue job+runner
        job+scheduler request+handler request+body request+id request+header request+headers
        request+logger help+page help+text help+menu help+icon help+button help+center help+centre
        help+command help+output test+data test+helper test+helpers test+fixture test+fixtures
        test+utils test+harness build+script build+scripts build+config build+number build+tag
        build+flags build+output build+cache build+time run+button run+script run+loop run+time
        start+button start+page start+date start+time start+screen startup+time startup+script
        stop+button stop+words order+status payment+status user+status login+status
    """,
    "diff": """
        my+edit my+draft my+refactor my+migration my+rewrite my+attempt first+attempt my+version
        my+modifications my+modification what+i+have what+i+have+staged i+have+staged
        staged+changes unstaged+changes uncommitted+changes uncommitted+work untracked+files
        pending+changes outgoing+commits incoming+commits unpushed+commits everything+i+changed
        everything+i+did everything+i+wrote all+my+changes all+my+edits all+my+work all+the+changes
        my+progress my+stuff my+files my+edits my+docs the+fixes these+fixes my+fixes my+commits
        the+commits these+commits those+commits i+have+written i+have+changed i+have+added
        i+have+modified i've+written i've+changed i've+added i've+modified i've+refactored
        i+refactored i+rewrote i+implemented i've+implemented i+reworked i've+reworked i+extracted
        i+moved i+replaced i+introduced i+committed i+pushed i+built+this i+made i+made+some
        last+change last+changes latest+change latest+patch the+patch this+diff the+diff that+diff
        that+commit that+patch those+changes these+changes the+changes the+change+i
        last+night's+commits this+week's+commits today's+commits today's+work yesterday's+commits
        yesterday's+work this+pr that+pr the+pr this+branch that+branch our+branch my+branch
        the+branch working+changes current+changes current+diff current+work
    """,
    "explain": """
        have+trouble+understanding struggling+to+understand struggle+to+understand
        having+trouble+understanding can't+wrap+my+head don't+quite+get don't+quite+understand
        doesn't+make+sense+to+me make+me+understand get+my+head+around wrap+my+head+around
        bring+me+up+to+speed+on give+me+some+background give+me+the+background give+me+context
        background+on context+on run+me+through take+me+through lead+me+through guide+me+through
        step+me+through go+through+how paint+me+a+picture enlighten enlighten+me spell+out+how
        spell+out+why elaborate+on expand+on+how clarify clarify+the clarify+what clarify+why
        explanation+of an+explanation+of short+explanation+of brief+explanation in+plain+english
        in+simple+terms in+layman's+terms like+i'm+five for+dummies in+a+nutshell in+a+few+words
        could+you+tell+me can+you+tell+me would+you+tell+me please+tell+me i'd+be+curious
        i+am+curious i'm+curious i+was+curious just+curious curious+about curious+how curious+why
        i+want+to+understand i'd+like+to+understand i+would+like+to+understand i+need+to+understand
        i+want+to+learn learn+about learn+how tell+me+how tell+me+why tell+me+what
        i+want+to+know+what i+want+to+know+why i+want+to+know+how i+just+want+to+know
        i+only+want+to+know i+would+like+to+know i+need+to+know
    """,
    "ask": """
        revert+with revert+back+with get+back+to+me come+back+to+me+with do+we+know
        does+anybody+know+why does+anyone+know+why anybody+know+why anyone+know+why not+clear+to+me
        unclear+to+me it's+unclear i+wonder+why i+wonder+how i+wonder+what i+wonder+whether
        what's+the+idea what+is+the+idea what's+the+deal what's+the+story what's+the+logic
        what's+the+use what's+the+benefit what's+the+advantage what's+the+meaning what's+the+role
        what's+behind what+exactly what+actually what+precisely
    """,
    "whether": """
        was+it+a+mistake was+it+wrong was+it+right was+it+smart was+it+wise was+it+ok was+it+okay
        was+it+a+good+idea was+it+a+bad+idea is+it+a+mistake is+it+wise is+it+smart
        would+it+hurt would+it+be+wise would+it+be+safe would+it+be+smart would+it+break
        would+it+help would+it+make+sense does+it+make+sense does+it+hurt is+it+worth
        is+it+worthwhile is+it+advisable is+it+ok is+it+okay what+would+happen+if
        what+happens+if what+happens+when what+would+happen+when what+if
        i'm+not+sure i+am+not+sure im+not+sure not+sure not+so+sure not+certain not+quite+sure
        not+entirely+sure not+convinced what+will+happen would+it+hurt would+it+break
        would+it+be+wise would+it+be+safe would+it+be+ok would+it+be+okay would+it+be+bad
        would+it+be+possible would+it+matter does+it+matter does+it+hurt will+it+hurt will+it+break
        will+it+affect would+it+affect does+it+affect would+anything would+adding would+removing
        would+changing would+switching would+moving would+using would+deleting would+we+lose
        would+we+need would+we+have do+you+think+we do+you+think+i do+you+think+it
        do+you+think+that do+you+think+this do+you+recommend do+you+suggest what+do+you+recommend
        what+do+you+suggest would+you+suggest would+you+say would+you+advise would+you+rather
        which+is+better which+would+be which+one+is what's+better what+is+better is+it+better+to
        is+it+worthwhile is+it+allowed is+it+legal is+it+recommended is+it+advisable is+it+normal
        is+it+common is+it+harmful is+it+risky is+it+dangerous is+it+correct+that is+it+true
        is+it+right+that are+there+any+reasons is+there+any+reason is+there+any+risk
        is+there+any+harm is+there+a+risk is+there+a+danger is+there+a+downside any+reason+not
        any+reason+why any+reason+to not+sure+how not+sure+what not+sure+which not+sure+why
        not+sure+about should+we+rather or+is+it+better or+should+we or+should+i or+do+we or+keep
        or+leave or+rather or+is+that
    """,
}
