"""More English words about the work, by class (`tags`).  Pure data.

The words of a phrase are joined by ``+``; the longest that stands at a place is taken.
"""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "canyou": """
        would+you+be+so+kind+as+to would+you+be+so+kind+to would+you+be+kind+enough+to
        could+you+be+so+kind+as+to could+you+possibly can+you+possibly could+you+maybe
        could+you+quickly can+you+quickly can+you+also could+you+also can+you+go+ahead+and
        could+you+go+ahead+and would+you+kindly could+you+kindly might+you could+we+possibly mind
        grateful+if+you+could grateful+if+you+would appreciate+if+you appreciate+if+you+could
        appreciate+it+if+you+could be+great+if+you be+great+if+you+could great+if+you+could
        nice+if+you+could cool+if+you+could lovely+if+you+could good+if+you+could
        helpful+if+you+could thankful+if+you+could obliged+if+you+could happy+if+you+could
        wonderful+if+you+could would+you+please will+you+please care+to fancy up+for
        think+you+could think+you+can do+you+think+you+could do+you+think+you+can any+way+you+could
        any+way+you+can is+it+possible+for+you+to possible+for+you+to i+was+hoping+you+could
        was+hoping+you+could hoping+you+could hoping+you+can i+hope+you+can i+wonder+if+you+can
    """,
    "i": """
        must+admit must+say must+confess i+must+admit i+must+say i+must+confess i+have+to+admit
        i+have+to+say i+should+mention i+should+add i+should+say
    """,
    "please": """
        dear esteemed respected i+beg+you i+ask+you+to i+am+going+to+need+you+to
        i'm+going+to+need+you+to i'm+gonna+need i+want+u+to i+need+u+to i+require+you+to
        i+request+you+to you+are+requested+to you+must you+can+now you+could+also we+must
        we+ought+to we+gotta we+got+to i+gotta i+got+to gotta got+to need+to want+to
        your+task+is+to your+task: next+step+is+to next+step the+task+is+to task+is+to
        the+plan+is+to the+idea+is+to the+next+thing+is+to the+next+step+is+to first+thing+is+to
        first+step+is+to step+one step+1 todo+next please+do+the+needful+and do+the+needful
        it+is+time+to high+time+to about+time+to time+for+you+to would+you+mind+to
        once+you+are+free once+you're+free when+you+get+a+chance when+you+have+a+moment
        when+you+have+a+minute when+you+get+a+minute if+you+have+time if+you+don't+mind
        if+it's+not+too+much+trouble if+that's+ok if+that's+okay at+your+earliest+convenience
        as+soon+as+possible right+away this+instant immediately straightaway straight+away promptly
        swiftly real+quick just+quickly plese pleas plase pleaz por+favor in+advance first+up
        for+starters to+begin+with to+start+with on+top+of+that while+you're+at+it
        while+you+are+at+it by+the+way
    """,
    "sent": """
        committed pushed merged uploaded published stashed staged synced rebased squashed tagged
        landed shipped backed
    """,
    "change": """
        can+we+make could+we+make can+we+have could+we+have can+we+get could+we+get can+you+make
        could+you+make can+we+add could+we+add can+we+please could+we+please shall+we+make
        apply+the+same apply+same one+small+correction small+correction small+change minor+change
        quick+change small+fix quick+fix minor+fix a+small+tweak small+tweak do+away+with
        dispense+with take+away take+off take+the+edge knock+off knock+out chop+off lop+off
        pare+down cut+back cut+out cut+short dial+down dial+up dial+back crank+up ramp+up ramp+down
        ratchet+up scale+back drop+down drop+the drop+to cap+at cap+the keep+at+most keep+it+to
        limit+to limit+it+to limit+the+number no+more+than stick+to stick+with go+back+to go+with+a
        go+from move+away+from move+from+x get+away+from shift+from convert+all
        drag+and+drop+support let+users let+people let+the+user let+customers let+admins let+it
        let+me+choose allow+users allow+customers allow+the+user give+users give+the+user
        give+every+user give+each+user give+each give+every offer+the offer+a offer+an
        show+the+user show+users show+a show+an show+only show+at+most tell+users warn+users
        warn+when warn+if notify+users ask+the+user ask+users prompt+the+user force+users make+them
        make+those make+these make+room make+use make+each make+both make+our make+my
        make+everything make+logging make+tests make+sure+we ensure+that see+to+it+that see+to+it
        take+care+of+the deal+with+the cope+with handle+the handle+a handle+an account+for cater+to
        allow+for provide+a provide+an provide+the supply+a supply+the introduce+a bring+back+the
        reintroduce re-add readd re-enable reenable re-introduce re-order re-write re-name re-do
        re-work re-use re-structure re-format revamp+the touch+up+the jazz+up spice+up pretty+up
        tart+up smarten+up spruce+up tweak+the fiddle+with rejig rejigger rejigger+the reshuffle
        shuffle+the massage+the fold+into merge+into+one fuse collate amalgamate conflate coalesce
        unite join+the+two split+into split+up divide chunk+the segment carve+up decompose
        dismantle disassemble tear+out tear+down+the rip+away yank+out yank scrap+the scrap
        ditch+the bin+the bin shed excise expunge obliterate drop+support eradicate weed+out
        root+out filter+out leave+off leave+room hide+from conceal mask+the mask+out obfuscate
        obscure blank+out grey+out gray+out fade+out fade+in dim+the highlight+the highlight
        emphasize emphasise enlarge+the thicken slim+the shorten+the lengthen lengthen+the prolong
        stretch+the widen+the narrow+the heighten deepen raise+to lower+to bump+to up+the upped
        hike+the double+the halve+the halve triple+the increment decrement tick+up round+up
        round+down round+to debounce+the cache+the cache+it memoise+the stub+out stub+the mock+out
        mock+the fake+out fake+the patch+the port+the port+to transpile translate+into translate+to
        localise+the rephrase+the reword+the retitle+the caption+the title+the name+it name+the
        call+it call+the+variable relabel+the rebrand+the swap+for substitute+for exchange
        replace+with supersede supplant trade swap+in hardcode+the parametrise parametrize+the
        inject+the pass+through pass+a thread+the plumb+through pipe+the pipe+through stream+the
        buffer+the batch+the queue+the schedule+the run+x+on+startup persist+to write+to+disk
        log+the log+every log+each log+when log+to audit+every count+the+retries measure+the+time
        time+the instrument+the trace+every annotate+the document+how document+what document+all
        comment+the comment+on+the explain+in+the+docs describe+in+the+readme mention+it+in
        mention+that spell+out spell+check+the proofread+the correct+the rectify remedy amend+the
        redress mend cure heal sort+this sort+it sort+that put+right put+a put+an put+in+a put+the
        stick+a stick+an slap+a whack+a throw+a toss+in drop+in+a pop+a chuck+in shove shove+a
        place+a set+a set+to set+it set+default set+up+a set+up+an fit+the fit+a equip furnish
        arm+the sprinkle append+the tack+on staple glue+the weave+in wire+in rig+up hook+the
        link+the link+to+the tie+the anchor+the pin+the pin+to lock+down lock+the bolt+down
        nail+down batten shore+up buttress beef+the reinforce fortify firm+up toughen tighten+the
        loosen+the ease+the soften+the soften smooth+out smoothen even+out flatten+the
        straighten+out straighten untangle+the disambiguate dedup de-dupe de-duplicate
        deduplicate+the get+the+button get+rid default+to keep+the+last keep+only keep+the+first
        retain+the keep+track+of remember+the+last switch+the switch+from switch+over+to flip+the
        toggle+the turn+the turn+it turn+this turn+all turn+every flag+the mark+the
        mark+as+deprecated sunset obsolete retire+the phase+in roll+out opt+in opt+out
        bring+down+the bring+in+line bring+up+to+date+the modernise modernise+the update+the
        update+all update+every refresh+the renew renew+the redesign redesign+the reimagine remodel
        rethink restyle reskin retheme recolour recolor+the theme+the style+it align+the centre
        centre+the center+the left-align right-align left+align right+align justify indent+the
        dedent+the space+out collapse+the expand+the fold+the unfold squeeze squash+the+image
        crop+the pad+the trim+the+whitespace strip+the strip+off peel peel+off cast+to coerce
        stringify+it parse+as read+as treat+as interpret+as accept+both accept+a accept+an
        accept+empty reject+all refuse+to+accept bail+out error+out fail+fast fail+the+build
        return+early return+an return+the return+null return+none return+404 return+a+404
        respond+with reply+with answer+with redirect+to forward+to point+it point+to+the route+to
        send+a send+users email+users text+the poll+the poll+every sleep+between wait+between
        wait+before+retrying back+off+exponentially retry+the retry+a retry+up retry+with
        give+up+after stop+after time+out+after abort+when abort+after cancel+the cancel+a
        cancel+pending kill+off drop+idle recycle+the pool+the reuse+connections share+the share+a
        hoist+the move+the move+it move+this lift+the lift+into pull+the+logic extract+the
        extract+a break+the break+it isolate+the decouple+the wrap+it wrap+all encapsulate+the
        hide+behind put+behind gate+behind guard+against protect+against prevent+the prevent+users
        avoid+the avoid+using avoid+duplicate stop+it+from stop+users+from disallow+the forbid+the
        ban+the block+the block+users deny+the restrict+the constrain confine bound+the bounded
        throttle+to rate-limit+the rate+limit+the debounce+it generate+a generate+the build+a+form
        build+a+page build+a+new build+an build+me+a develop+a develop+an develop+the code+a
        code+up program+a design+a design+the create+a model+the sketch+a scaffold+a bootstrap+a
        prototype+a prototype knock+together rustle+up mock+up hack+together hack+up rough+out
        flesh+out+the finish+off complete+the fill+in fill+out populate+the seed+it+with derive
        derive+the add+in
    """,
    "desire": """
        ought+to has+to have+to+be will+have+to will+need shall+be should+be+able
        should+be+possible should+become should+get should+give should+make should+keep should+hide
        should+let should+wait should+retry should+respect should+use+the should+be+using
        should+not+be should+really should+probably should+just should+maybe should+instead
        should+then should+now should+ideally should+contain+only should+count should+expire
        should+validate should+print should+render should+sort should+update should+warn
        should+write must+always must+never must+go must+come must+fail must+log must+stay
        must+become must+contain must+expire must+happen must+include must+match must+retry needs+a
        needs+an needs+the need+a need+an needs+some needs+more needs+less needs+fixing
        needs+updating needs+refactoring needs+tests needs+another needs+changing needs+renaming
        needs+cleaning needs+work needs+proper needs+better need+fixing need+updating
        need+refactoring need+tests wants+a wants+an deserves is+due+for is+missing lacks+a
        lacks+an is+lacking from+now+on henceforth going+forward in+future in+the+future as+of+now
        starting+today i'd+rather+have i'd+rather+see i'd+rather+use we'd+rather i'd+like+it
        i'd+like+the i'd+like+a i'd+love+a i'd+love+it i'd+love+for i'd+love+to+see
        i+would+love+to+see i'd+like+to+see i+would+like+to+see i+want+it i+want+the i+want+a
        i+want+to+see i+want+to+have i+want+to+be+able+to i+need+it i+need+the i+need+a we+need+a
        we+need+an we+need+the we+want+a we+want+the i+expect i+require we+require it+would+be+nice
        it+would+be+great it+would+be+better it+would+be+cool it+would+be+good it+would+help
        it'd+be+better it'd+be+cool it'd+be+good would+be+good would+be+helpful would+be+useful
        would+be+awesome would+be+lovely would+be+neat would+be+handy would+be+preferable
        would+rather+have would+rather+see would+rather+use better+if better+to+have better+to+use
        might+be+nice might+be+good if+only wish+list feature+request users+want users+need
        users+should customers+want people+want clients+want customers+need team+wants team+needs
        boss+wants product+wants pm+wants design+wants marketing+wants qa+wants they+want
        preferably ideally is+to+be are+to+be is+to+become may+be+removed may+be+deleted
        can+be+removed can+be+deleted can+go could+go could+be+removed could+be+deleted
        could+be+shorter could+be+simpler could+be+simplified could+be+replaced could+be+renamed
        can+be+simplified can+be+replaced could+use+a could+use+some could+do+with do+with+a
        no+longer+be no+longer+needed no+longer+need wanted+is what+i+want+is what+we+need+is
        what+we+want+is all+i+want+is the+goal+is my+wish+is
    """,
    "banned": """
        is+off+limits are+off+limits is+forbidden is+prohibited are+prohibited is+not+permitted
        are+not+permitted is+not+allowed are+not+allowed is+out+of+bounds are+out+of+bounds
        is+taboo are+taboo is+sacred stays+as+it+is stay+as+they+are stays+untouched stay+untouched
        stays+the+way remains+untouched remain+untouched must+not+be+touched must+not+be+changed
        must+not+be+modified must+not+be+edited mustn't+be+touched should+not+be+touched
        shouldn't+be+touched may+not+be+touched may+not+be+changed may+be+touched may+be+changed
        may+be+modified is+to+be+touched is+to+be+changed is+to+be+pushed is+to+be+run
        is+to+be+modified is+to+be+edited is+to+be+deleted is+frozen are+frozen is+locked+down
        is+none+of+your nobody+touches nobody+changes nobody+edits nobody+pushes no+one+touches
        no+one+changes no-one+touches stay+out+of stay+clear keep+clear gets+touched gets+changed
    """,
    "more": """
        bigger smaller larger wider narrower taller shorter longer thicker thinner faster slower
        darker lighter brighter bolder louder quieter stricter looser tighter simpler cleaner
        clearer nicer prettier higher lower deeper safer stronger smoother friendlier verbose
        configurable optional collapsible sortable searchable clickable resizable scrollable
        draggable editable reusable
    """,
    "run": """
        type-check+the type+check+the typecheck+the regenerate regen retest relint reseed reindex
        redeploy revalidate give+it+another+go give+the+tests+a+run one+more+time once+more
        another+run another+round another+pass full+run sanity+run run+it+again run+again
        run+them+all let+it+rip do+the+build do+the+tests do+a+deploy do+the+deploy do+an+install
        do+the+install do+a+release do+a+lint do+a+compile do+a+typecheck do+a+full
        do+a+quick+build do+a+fresh+build do+a+fresh+install have+another+go put+it+through
        put+it+through+the put+through get+going get+it+running get+it+going get+it+up bring+it+up
        bring+up+the bring+the+stack power+up bootstrap+the+env kick+the start+the start+a
        start+up+the stop+the+server stop+the+dev stop+the+container stop+the+service restart+the
        bounce+the bounce+the+server cycle+the regenerate+the+client regenerate+the+docs
        regenerate+the+lockfile regenerate+the+types regenerate+the+protos regenerate+the+bindings
        regenerate+code regenerate+snapshots generate+the+client generate+the+docs
        generate+coverage generate+the+coverage update+the+snapshots update+snapshots try+it+out
        try+it try+a+build try+the+build try+building try+compiling try+to+build try+to+compile
        try+to+run try+to+start test+drive test+it see+whether+the+tests see+whether+it+builds
        see+if+it+builds see+if+it+compiles see+if+the+tests see+if+tests see+whether+tests
        see+whether+it+compiles check+if+the+tests check+whether+the+tests check+that+the+tests
        check+if+it+compiles check+that+it+compiles check+if+it+builds check+that+it+builds
        check+whether+it+builds check+whether+it+compiles verify+the+build verify+that+the+tests
        verify+that+it+builds make+sure+the+tests+pass make+sure+tests+pass make+sure+it+builds
        make+sure+it+compiles make+sure+everything+passes make+sure+everything+compiles
        let's+see+if+it+builds let's+see+whether+it+builds let's+see+if+it+compiles
        let's+see+if+the+tests let's+see+whether+the+tests let's+see+if+tests execute+the play+the
        replay replay+the rerun+the re-run+the re-test rebuild+the recompile+the reinstall
        re-install reinstall+the reindex+the rebuild+it apply+pending+migrations
        apply+the+migration migrate+the+database migrate+the+db roll+the+migrations run+migrations
        reset+the+database reset+the+db wipe+the+database seed+the+database seed+the+db
        load+the+fixtures dump+the+database dump+the+schema clear+the+cache clear+cache
        flush+the+cache purge+the+cache prune+docker profile+the benchmark+the bench+the
        measure+the load+test stress+test fuzz+the fuzz soak+test crunch compute+coverage
        collect+coverage format+this+file spin+up+the fire+up+the boot+the boot+up+the launch+the
        flash+the flash+firmware spit+out crank+out turn+out+a cut+a+build cut+a+release
        roll+a+build roll+a+release produce+a+build make+a+release make+a+debug+build
        make+a+release+build package+the package+it package+up bundle+it up+the+containers
        train+the train+a+model evaluate+the+model render+the+docs execute+all sweep+the
        walk+the+tests
    """,
    "test": """
        full+regression regression+suite regression+run sanity+suite nightly+suite nightly+tests
        slow+tests fast+tests failing+tests failed+tests flaky+tests all+tests all+specs
        whole+suite entire+suite full+suite test+cases test+case test+file test+files test+class
        test+module contract+tests acceptance+tests api+tests ui+tests browser+tests load+tests
        perf+tests performance+tests stress+tests snapshot+tests backend+tests frontend+tests
        front-end+tests back-end+tests front+end+tests doctests doctest docs+build doc+build
        production+build prod+build dev+build docker+build docker+image android+build ios+build
        nightly+build static+analysis static+check static+checks type+checks type+checking
        type-checking style+check style+checks syntax+check security+scan licence+check
        license+check dependency+check link+check link+checker spell+check code+coverage
        ci+pipeline ci+checks ci+locally build+step build+pipeline build+job test+job lint+job
        all+checks the+checks fuzzers fuzzer apk ipa wheel bytecode firmware+image
        migrations+locally
    """,
    "find": """
        rg ag ack ripgrep identify where's+the spot+the+file give+me+all give+me+every
        give+me+the+file give+me+a+list+of give+me+the+list+of list+of+all a+list+of number+of
        a+count+of total+number+of tally all+uses+of all+usages+of all+occurrences+of
        all+references+to all+callers+of all+places+where all+places+that all+the+places
        every+place+that every+place+where every+file every+function every+class every+usage+of
        every+reference+to every+occurrence+of every+mention+of every+caller+of everywhere+we
        everywhere+that usages+of uses+of references+to occurrences+of mentions+of callers+of
        callers+for instances+of implementations+of definition+of declaration+of location+of
        whereabouts+of source+file+for source+of+truth+for path+to path+of path+for show+me+where
        show+me+every show+me+all show+me+the+definition show+the+definition show+me+the+code+that
        show+me+the+code+for show+me+files show+me+the+files show+where tell+me+where
        tell+me+which+file tell+me+which+files jump+to go+to+the navigate+to lead+me+to bring+me+to
        direct+me+to help+me+find can't+find+where cannot+find+where don't+know+where
        do+you+know+where any+idea+where any+clue+where remember+where know+where wondering+where
        curious+where figure+out+where see+where check+where sniff+out ferret+out root+around+for
        rummage seek seek+out scour scour+the scout trawl trawl+through sift+through sweep+for
        dredge unearth uncover look+around+for look+through+the+code+for check+for+usages
        check+who+calls check+who+uses find+usages goto+definition go+to+definition
        full+text+search
    """,
}
