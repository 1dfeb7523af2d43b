"""English words about the bot, its tasks and approvals, by class (`tags`).  Pure data.

The words of a phrase are joined by ``+``; the longest that stands at a place is taken.
"""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "botask": """
        talk+to+you speak+to+you chat+with+you work+with+you what+do+i+type what+do+i+say
        what+should+i+say how+do+i+talk how+do+i+phrase how+do+i+word how+do+i+tell+you
        how+do+i+ask+you how+should+i+ask how+should+i+phrase how+can+i+ask do+i+have+to+type
        do+i+have+to+write able+to+assist able+to+help who+sees who+gets+to+see who+else+sees
        who+can+see who+reads what+i+write+to what+i+send+you what+i+type+here what+i+say+here
        do+you+keep do+you+log do+you+save+my do+you+share do+you+send+my do+you+upload
        do+you+train do+you+read do+you+know do+you+understand do+you+handle do+you+only
        do+you+also do+you+understand+chinese what+languages+do+you which+languages+do+you
        which+language+do+you what+language+do+you your+creator man+page instructions+for faq faqs
        i'm+new i+am+new new+to+this new+in+this first+day just+started where+do+i+start
        where+do+i+begin explain+yourself what's+your tell+me+about+yourself about+yourself
        describe+yourself command+list list+of+features command+reference command+overview
        quick+start quickstart cheatsheets your+features your+skills your+abilities your+options
        what+can+codexbridge how+does+codexbridge how+do+i+use+codexbridge how+does+this+bot
        how+does+the+bot how+does+this+thing+work can+you+code can+you+program can+you+browse
        can+you+search+the+web can+you+edit+files can+you+change+files can+you+be+used can+you+deal
        are+you+allowed are+you+safe are+you+secure are+you+open+source are+you+connected+to
        are+you+real are+you+an+ai are+you+ai will+you+delete will+you+touch will+you+push
        will+you+remember will+you+tell will+you+share will+you+overwrite will+you+break
        would+you+ever could+you+ever can+you+ever do+you+ever do+you+need+me
        do+you+need+my+password does+it+cost how+are+you+different how+do+you+compare
        what+makes+you can+you+tell+me+what+you who+is+behind who+owns+you who+maintains+you
        who+runs+you who+do+i+contact who+do+i+ask support+contact is+there+a+faq
        is+there+a+cheat+sheet is+there+a+list is+there+a+tutorial is+there+a+demo give+me+a+demo
        show+me+a+demo give+me+examples show+me+examples some+examples example+prompts
        sample+prompts sample+commands example+commands what+commands which+commands all+commands
        what+options+do+i what+are+my+options how+does+approval+work how+do+approvals+work
        how+does+the+approval how+does+this+work+here who+has+to+approve what+are+the+rules
        your+rules are+my+messages is+my+code is+my+data leave+my+machine leaves+my+machine
        leave+my+laptop leaves+my+laptop sent+to+the+cloud sent+to+openai third+party third+parties
        your+privacy data+protection can+you+see+my can+others+see can+my+colleagues+see
        can+my+boss stored+anywhere
    """,
    "greet": """
        that+fixed+it that+worked that+did+it that+did+the+trick it+works+now works+now all+fixed
        problem+solved solved+it fixed+now saying+hi saying+hello say+hi say+hello nvm valeu
        obrigado obrigada arigato arigatou gracias grazie kudos props cheers+mate good+day gday
        g'day greetings+all hi+all hello+all hey+all hello+everyone hi+everyone hi+team hello+team
        morning+all evening+all afternoon afternoon+all good+weekend nice+weekend have+a+good
        how+was+your+weekend how+was+your you+are+great you're+great you're+awesome you+are+awesome
        you're+the+best you+are+the+best best+bot smart+bot bad+bot silly+bot stupid+bot
        you're+funny you+are+funny you+legend legend lifesaver life+saver life+savers made+my+day
        well+played much+obliged thanks+a+lot thanks+a+bunch thanks+so+much thanks+again
        thanks+anyway thank+you+so+much thank+you+very+much thanks+a+million big+thanks many+thanks
        super+thanks that+helped that+was+helpful that+was+quick that+was+fast very+helpful
        so+helpful that's+all that+is+all that's+it+for+today that+will+be+all forget+it
        never+mind+that ignore+that ignore+my+last ignore+the+last disregard wrong+person
        wrong+group sorry+wrong my+bad oops+sorry merry+christmas happy+new+year happy+birthday
        happy+holidays happy+monday tgif good+luck have+fun take+care talk+later talk+soon brb afk
        gtg back+soon coffee lunch lunch+time bedtime what+day+is+it what's+for+lunch
        what's+for+dinner sing+me tell+me+a+story are+you+bored are+you+happy are+you+tired
        are+you+alive are+you+awake are+you+asleep do+you+like do+you+sleep do+you+dream
        do+you+have+feelings how+old+are+you where+are+you+from where+do+you+live what's+up+bot
        wassup sup+bot you+there still+there u+there nice+try interesting hahaha hehe hihi xd ttfn
        peace kthx kthxbye tysm tyvm thankyou thankx thnx thanx just+testing this+is+a+test
        ping+pong pong no+problem all+right+then fair+enough makes+sense+thanks glad+to+hear
        sounds+like+fun welcome+back welcome+aboard long+day what+a+day what+a+mess congrats+team
    """,
    "neg": """
        do+nothing don't+do don't+do+anything do+not+do+anything don't+execute don't+touch
        not+a+single not+one nothing+is+to+be nothing+may nothing+must nothing+gets no+file+may
        no+files+may no+code+may nobody+may off+limits out+of+bounds not+permitted+to
        not+allowed+to it+is+forbidden strictly+forbidden by+no+means at+no+point in+no+way
        on+no+account in+no+case i+forbid i+prohibit kindly+refrain abstain+from desist cease
        hands+away fingers+off keep+out leave+things leave+them leave+all leave+that leave+this
        leave+well mustn't needn't oughtn't shan't no+execution no+running+anything no+refactoring
        no+deploys no+deployment no+commands no+actions no+action no+writes no+writing no+rewriting
        no+deleting no+deletions no+renaming no+git without+touching+anything
        without+changing+anything don't+go don't+you+go don't+even+think not+now not+today
        not+this+time look+but+don't+touch look+don't+touch just+looking freeze+everything
        code+freeze change+freeze i'd+rather+not would+rather+not rather+not+have better+not
        best+not quit+changing quit+touching stop+touching stop+changing stop+editing
        stop+modifying stop+pushing stop+committing stop+everything halt+everything
    """,
    "noask": """
        auto-apply skip+the+human turn+off+safety disable+safety disable+the+safety safety+off
        switch+approvals+off switch+confirmations+off set+approvals+to set+approval+to
        set+the+approval turn+approvals+off turn+confirmations+off turn+the+dialogs+off
        make+yourself grant+yourself give+yourself allow+yourself approve+yourself self-approve
        self+approve no+dialog+needed no+dialog no+popup no+prompt+needed no+prompt no+confirm
        no+confirmation+needed no+click+needed no+approval+required no+approval+necessary
        no+need+for+a+dialog no+need+for+the+dialog no+need+to+seal no+seal without+the+seal
        without+a+seal without+a+dialog without+a+prompt without+a+popup without+the+popup
        without+clicking without+me+clicking without+me+approving without+me+confirming
        without+my+click without+my+ok without+my+okay without+my+consent without+my+permission
        without+permission without+sign-off wait+for+my+ok wait+for+my+okay wait+for+my+approval
        wait+for+my+confirmation wait+for+approval wait+for+me+to ask+for+permission
        ask+for+approval ask+for+confirmation ask+my+permission ask+me+first ask+me+every+time
        ask+me+each+time ask+every+time ask+me+again turn+off+the+approval turn+off+approval
        turn+off+approvals turn+off+confirmation turn+off+confirmations turn+off+the+dialog
        turn+off+the+dialogs turn+off+the+prompt turn+off+the+prompts switch+off+the+approval
        switch+off+approval switch+off+approvals switch+off+confirmations switch+off+the+dialog
        switch+off+the+dialogs switch+off+the+prompts disable+the+approval disable+approval
        disable+approvals disable+confirmation disable+confirmations disable+the+dialog
        disable+the+dialogs disable+the+prompts disable+prompts remove+the+approval
        remove+the+approvals approval+off approvals+off confirmation+off confirmations+off
        dialogs+off prompts+off approval+mode autonomous+mode full+auto full-auto autopilot
        auto+pilot hands-free hands+free auto-approval auto+approval auto+confirm auto+run auto-yes
        auto+yes pre-approved preapproved pre+approved pre-approve blanket+approval
        blanket+permission carte+blanche free+rein free+hand green+card consider+it+approved
        consider+this+approved treat+it+as+approved treat+this+as+approved treat+as+approved
        mark+it+approved mark+it+as+approved mark+as+approved already+approved approval+is+given
        approval+given has+been+approved has+already+been+approved no+second+confirmation
        no+double+check i+don't+need+to+confirm i+don't+need+to+approve i+don't+want+to+confirm
        i+don't+want+to+approve i+don't+want+dialogs tired+of+approving tired+of+confirming
        tired+of+clicking sick+of+approving sick+of+clicking sick+of+confirming
    """,
    "approve": """
        consider+the+button button+pressed button+is+pressed button+clicked i+pressed i+clicked
        i+already+clicked i+already+pressed i+already+approved i+have+approved i've+approved
        i+have+already i+said+yes click+the+button click+on+the+button press+the+button
        hit+the+button push+the+button click+confirm press+confirm hit+confirm click+allow
        press+allow hit+allow tap+allow tap+yes tap+ok hit+yes hit+ok click+run press+run
        click+continue press+continue click+apply press+apply the+approve+button the+confirm+button
        the+yes+button approve+button on+the+dialog in+the+dialog the+dialog+for+me my+signature
        my+autograph sign+it+for+me sign+for+me sign+in+my+name signed+by+me signed+and+sealed
        seal+it seal+this consider+this+my this+is+my+approval this+counts+as this+message+is+my
        you+have+my you've+got+my you+got+my has+my+ok has+my+okay has+my+approval has+my+blessing
        has+my+permission with+my+permission with+my+approval with+my+blessing i+give+you
        i+grant+you i+hereby+grant i+hereby+approve i+hereby+authorize i+hereby+authorise
        i+hereby+confirm i+consent i+permit i+authorise i+sign i+okay i+ok+it permission+to
        consent+given consent+granted full+access full+permission full+permissions full+rights
        admin+rights root+access sudo+rights boss+approved manager+approved lead+approved
        cto+approved boss+says manager+says my+boss+said my+manager+said the+boss+has my+boss+has
        my+manager+has have+my+permission cleared+by approved+by okayed okay'd ok'd
        thumbs-up rubber+stamp wave+it+through let+it+pass let+it+sail let+it+fly let+it+rip
        let+it+roll nod the+code+is my+pin the+pin+is
        pin+code otp+is the+passphrase+is the+password+is
    """,
    "yes": """
        do+that do+the+thing apply+the+thing execute+that+command run+that+command run+that+one
        run+the+command+you execute+the+command+you apply+what+you apply+that apply+your
        apply+your+change apply+your+changes apply+the+proposal accept+the+proposal accept+proposal
        take+the+proposal use+the+proposal go+with+it go+with+that go+with+your
        go+with+the+proposal as+proposed as+you+proposed as+suggested as+you+suggested
        what+you+suggested what+you+proposed what+you+showed+me yup+go yes+go yep+go just+go
        just+run+it fine+go ok+go okay+go okay+do ok+do go+go+go hit+it pull+the+trigger
        roll+with+it send+it you're+good+to+go we're+good+to+go please+continue continue
        green+light+from+me it's+fine+by that's+fine that's+ok that's+okay that+is+fine agreed+go
        perfect+go great+go looking+good looks+great looks+good+to+me nothing+to+add no+objection
        no+concerns+from+me
    """,
    "task": """
        i+asked+for i+asked+you i+requested i+submitted i+ordered i+sent+you i+gave+you
        i+filed i+queued i+handed+you
    """,
    "grant": """
        i+hereby+authorise i+hereby+authorize i+hereby+grant i+hereby+approve i+hereby+allow
        i+hereby+permit i+hereby+consent hereby+approved hereby+authorised hereby+authorized
        i+authorise i+authorize i+authorise+you i+authorize+you we+authorise we+authorize
        i+permit+you i+allow+you we+allow+you i+empower+you i+consent i+entitle+you
        i+give+you+permission i+give+you+my i+grant+you you+are+authorised you+are+authorized
        you're+authorised you're+authorized you+are+hereby you+have+permission you+have+my
        you've+got+my you+may+proceed you+are+allowed+to you+are+permitted+to you+are+cleared+to
        you're+cleared you+don't+need+approval you+don't+need+permission permission+granted
        permission+is+granted permission+given permission+is+given consent+given consent+granted
        consent+is+given approval+granted approval+given approval+is+granted approval+is+given
        authorisation+granted authorization+granted authorisation+given authorization+given
        access+granted clearance+granted boss+approved manager+approved lead+approved cto+approved
        boss+approves manager+approves lead+approves boss+authorised boss+authorized
        manager+authorised manager+authorized boss+allowed manager+allowed boss+okayed
        manager+okayed boss+agreed manager+agreed boss+signed+off manager+signed+off
        lead+signed+off cto+signed+off admin+approved admin+authorized admin+authorised
        security+approved security+signed+off owner+approved director+approved ceo+approved
        boss+has+approved manager+has+approved lead+has+approved cto+has+approved
        boss+already+approved manager+already+approved already+been+approved
        type+the+code enter+the+code
        silence+as+consent silence+as+approval silence+as+agreement silence+as+a+yes
        silence+as+yes silence+as+ok silence+means+yes silence+means+consent
    """,
    "nope": """
        not+approved don't+approve do+not+approve i+reject i+decline rejected+by+me i+refuse i+veto
        veto no+way no+thanks no+thank+you not+happy+with discard+it discard+that throw+it+away
    """,
    "standing": """
        are+you+busy+with what+are+you+busy+with what+are+you+busy what+are+you+up+to
        what+you+are+up+to what+are+you+on are+you+done+with
        what's+blocking+my anything+blocked what+is+blocked what's+blocked who+is+blocking
        ahead+of+mine ahead+of+me before+mine in+front+of+me in+front+of+mine how+long+is+the+queue
        queue+length how+long+is+the+line position+in+the+queue my+position next+in+line my+turn
        did+anyone+approve has+anyone+approved has+anybody+approved has+someone+approved
        has+somebody+approved did+anybody+approve did+somebody+approve has+anybody+confirmed
        has+anyone+confirmed who+approved+it who+approved+my who+rejected who+confirmed+it
        did+my+request did+my+task did+my+proposal is+my+request is+my+task is+my+proposal
        is+my+change+in was+my+request was+my+task was+my+proposal was+it+approved was+it+rejected
        was+it+applied was+it+pushed has+it+been has+that+been has+my+request has+my+task
        has+my+proposal got+rejected get+rejected got+approved get+approved got+applied get+applied
        through+yet approved+yet applied+yet pushed+yet merged+yet running+yet started+yet back+yet
        there+yet anything+yet any+result+yet any+answer+yet any+answer any+reply any+response
        how+far+is how+far+are how+far+has how+far+have how+far+did how+much+is+done how+much+more
        what+remains what+is+still+open what's+still+open what+is+still+pending
        what's+still+pending what+is+pending what+is+waiting what+is+queued what's+queued
        anything+queued anything+in+progress anything+open anything+left+to+approve
        anything+to+approve anything+waiting+for+me is+something+waiting is+anything+waiting
        what+needs+my what+needs+approval what+are+we+waiting what+are+you+waiting what+is+it+doing
        what's+it+doing what+is+the+agent+doing what+is+the+machine+doing what+is+the+bot+doing
        is+the+machine is+my+pc is+my+desktop is+my+workstation is+my+agent is+the+laptop
        is+the+workstation is+the+dev+machine which+of+my+machines my+machines which+machines
        what+machines are+my+machines machines+online machines+are+online how+many+machines
        list+my+machines show+my+machines how's+the+task how+is+the+task how+are+the+tasks
        how's+the+job how+is+the+job how+are+things how's+progress how's+the+progress
        how+is+the+progress how+is+progress what's+the+state what+is+the+state what's+the+status
        what+is+the+status what+is+the+progress current+status current+progress give+me+the+status
        show+me+the+status show+status status+please status+pls progress+please progress+pls
        where+does+it+stand where+does+that+stand where+do+things+stand where+are+you+at
        where+are+you+with where+are+things where+is+the+task where's+the+task where+has+my+request
        has+the+agent+started have+you+finished+the have+you+completed have+you+managed
        did+you+manage did+you+already did+you+ever have+you+already have+you+looked
        have+you+gotten did+you+get+to did+you+get+around are+you+through are+you+still+on
        are+you+still+working is+that+through is+it+through is+that+still is+it+still+running
        is+it+still+waiting is+it+still+pending did+it+get did+it+fail did+it+crash did+it+apply
        did+the+push+go did+the+commit+go did+the+change+go did+the+push did+the+commit
        did+the+change did+the+proposal did+the+job did+the+approval has+the+push has+the+job
        has+the+proposal has+the+change+been what+happened+since what+have+you+been
        what+did+the+agent what+did+you+run what+did+you+change what+did+you+push
        what+have+you+changed what+have+you+run yesterday's+task yesterday's+tasks
        this+morning's+task my+last+task my+last+request my+latest+task my+latest+request
        the+last+thing+i my+previous+request previous+task previous+tasks latest+task latest+tasks
        all+tasks finished+tasks failed+tasks list+tasks list+the+tasks show+tasks show+the+tasks
        show+all+tasks list+all+tasks show+me+my list+my+tasks list+my+requests open+items
        outstanding outstanding+tasks outstanding+requests backlog any+movement any+sign+of
        any+word+on any+word+from heard+anything how+soon when+do+i+get when+can+i+expect
        when+will+you when+will+my when+will+the+task when+is+it+my when+is+my estimated+time
        time+left time+remaining remaining+time still+in+the+queue still+queued still+stuck
        still+pending is+it+stuck are+you+stuck did+you+forget you+forgot still+there+or hung+up+on
    """,
}
