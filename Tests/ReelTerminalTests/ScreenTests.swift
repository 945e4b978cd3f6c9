import Foundation
import ReelCore
import ReelJobs
import ReelQueue
import ReelTerminal
import Testing

/// Screens of the queue, its jobs and the workers, character by character.
@Suite struct ScreenTests {
    private let plain = Canvas.plain
    private let terminal = Canvas(columns: 80, rows: 24, hasColour: true, hasBlocks: true)

    private func job(
        _ id: String, source: String, state: JobState = .running, paused: Bool = false, frames: Int = 4000,
        encoded: Int = 1800, counts: JobStatus.PassCounts, fps: Double = 0, oldestWait: Double? = nil,
        waits: WaitReason? = nil, failure: ReelFailure? = nil
    ) -> JobView {
        let job = BoardJob(
            id: JobID(id), source: source, frames: frames, passCount: 40, need: 1 << 30, encoders: [],
            protocolVersion: 1, diagnostics: [.noTimestamps])
        return JobView(
            JobStatus(
                job: job, state: state, isPaused: paused, passes: counts, framesEncoded: encoded,
                pace: Pace(framesPerSecond: fps, passesPerSecond: 0.2), peakRSS: 1 << 29, created: 0,
                oldestWait: oldestWait, failure: failure),
            output: nil, waitReason: waits, waitAdvice: waits.map { _ in "let it go on" })
    }

    private let died = ReelFailure(.engineDied(place: .idle, end: .signalled(signal: 11), lastWords: nil))

    private var queue: QueueView {
        let jobs = [
            job(
                "5d0c2f3a9be17c44", source: "/films/holiday.mov",
                counts: JobStatus.PassCounts(done: 18, live: 2, ready: 19, retrying: 1), fps: 31.62, oldestWait: 31.2),
            job(
                "8fa01b7c6d5e4f30", source: "/films/b.mp4", paused: true, encoded: 0,
                counts: JobStatus.PassCounts(ready: 40), waits: .paused),
            job(
                "c3d2e1f0a9b87654", source: "/films/c.mp4", state: .failed,
                counts: JobStatus.PassCounts(done: 39, exhausted: 1),
                failure: ReelFailure(.passExhausted(pass: 3, attempts: 3, last: died))),
        ]
        let report = WorkerReport(
            worker: WorkerID("w"), host: "h", slots: 2, memoryTotal: 1, encoders: [], protocolVersion: 1, held: [])
        return QueueView(
            jobs: jobs, counts: (active: 2, failed: 1), pace: Pace(framesPerSecond: 31.62, passesPerSecond: 0.2),
            workers: [
                WorkerStatus(report: report, beatAge: 1), WorkerStatus(report: report, beatAge: 30, isGone: true),
            ])
    }

    private func strip(done: Int, live: Int, failed: Int = 0) -> PassStrip {
        PassStrip(
            cells: (0..<40).map { index in
                PassStrip.Cell(
                    passes: 1, done: index < done ? 1 : 0, live: index >= done && index < done + live ? 1 : 0,
                    failed: index >= 38 && index - 38 < failed ? 1 : 0)
            })
    }

    private var strips: [String: PassStrip] {
        [
            "5d0c2f3a9be17c44": strip(done: 18, live: 2, failed: 1), "8fa01b7c6d5e4f30": strip(done: 0, live: 0),
            "c3d2e1f0a9b87654": strip(done: 38, live: 0, failed: 2),
        ]
    }

    private func text(_ lines: [ScreenLine], _ canvas: Canvas) -> String {
        lines.map { $0.rendered(on: canvas) }.joined(separator: "\n")
    }

    @Test func theQueueInAPipe() {
        #expect(
            text(QueueText.lines(queue, strips: strips, at: 90, on: plain), plain) == """
                2 jobs active, 1 failed; 1 worker, 0 of 2 slots busy
                passes: 59 ready, 2 in flight, 1 retrying, 1 exhausted, oldest wait 0:32
                last minute: 31.6 fps, 12.0 passes a minute, ETA 1:10

                JOB               STATE    DONE     SPEED   ETA  AGE  NAME
                5d0c2f3a9be17c44  running  45 %  31.6 fps  1:10   1m  holiday.mov
                  ##############>>..............!  18/40 passes, 2 in flight, 19 ready, 1 retrying, oldest wait 0:32
                8fa01b7c6d5e4f30  paused    0 %                   1m  b.mp4
                  ...............................  0/40 passes, 40 ready
                  waits: it is paused: let it go on
                c3d2e1f0a9b87654  failed   45 %                   1m  c.mp4
                  ##############################!  39/40 passes, 1 exhausted
                  failed: pass 3 failed 3 times: engine died of signal 11 (SIGSEGV) between two requests

                # done  > running  . waiting  ! failed  (passes in the order in which they are given out)
                """)
    }

    @Test func theQueueOnATerminal() {
        let lines = QueueText.lines(queue, strips: strips, at: 90, on: terminal)
        #expect(lines.map(\.width).max() ?? 0 <= 80 || lines.last?.text.hasPrefix("█ done") == true)
        let shown = text(lines, terminal)
        let done = String(repeating: "█", count: 36)
        #expect(shown.contains("  \u{1B}[32m\(done)\u{1B}[0m\u{1B}[33m▒▒▒\u{1B}[0m\u{1B}[2m·"))
        #expect(shown.contains("\u{1B}[1;31m×"))
        let dumb = Canvas.terminal(columns: 80, environment: ["TERM": "dumb"])
        #expect(!text(QueueText.lines(queue, strips: strips, at: 90, on: dumb), dumb).contains("\u{1B}"))
    }

    @Test func jobsThatDoNotFitAreCounted() {
        let small = Canvas(columns: 120, rows: 11, hasColour: false, hasBlocks: true)
        let lines = QueueText.lines(queue, strips: strips, at: 90, on: small).map(\.text)
        #expect(lines.count <= 11)
        #expect(lines.last == "1 job more")
        #expect(lines.contains { $0.hasPrefix("8fa01b7c6d5e4f30") })
    }

    // MARK: Choosing and sorting

    private var watched: Snapshot {
        let (queue, strips) = (queue, strips)
        return Snapshot(json: 0, jobs: queue.jobs) { QueueText.lines(queue, strips: strips, at: 90, as: $0, on: $1) }
    }

    private func ids(_ view: ScreenView, on canvas: Canvas) -> [String] {
        view.lines(of: watched, on: canvas).map(\.text).filter { $0.contains(/^[0-9a-f]{16}/) }.map {
            String($0.prefix(16))
        }
    }

    @Test func keysChooseAJobAndOpenIt() {
        var view = ScreenView()
        func press(_ keys: Keyboard.Key...) { for key in keys { view.heed(key, of: watched, on: terminal) } }
        press(.open)
        #expect(view.opened == nil, "nothing is chosen yet")
        press(.down)
        let shown = view.lines(of: watched, on: terminal).map { $0.rendered(on: terminal) }
        let chosen = shown.filter { $0.hasPrefix("\u{1B}[7m") }
        #expect(chosen.count == 1)
        #expect(chosen[0].hasPrefix("\u{1B}[7m5d0c2f3a9be17c44  running"))
        press(.down, .open)
        #expect(view.opened == JobID("8fa01b7c6d5e4f30"))
        let alone = Snapshot(json: 0) { _, _ in [ScreenLine("alone")] }
        view.heed(.down, of: alone, on: terminal)
        #expect(view.lines(of: alone, on: terminal).map(\.text) == ["alone"])
        view.heed(.back, of: alone, on: terminal)
        #expect(view.opened == nil)
        press(.up, .up, .up, .open)
        #expect(view.opened == JobID("5d0c2f3a9be17c44"), "the first is as far as it goes")
    }

    @Test func theListIsSorted() {
        var view = ScreenView()
        #expect(ids(view, on: terminal) == ["5d0c2f3a9be17c44", "8fa01b7c6d5e4f30", "c3d2e1f0a9b87654"])
        view.heed(.sort, of: watched, on: terminal)
        // By name: b.mp4, c.mp4, holiday.mov.
        #expect(ids(view, on: terminal) == ["8fa01b7c6d5e4f30", "c3d2e1f0a9b87654", "5d0c2f3a9be17c44"])
        view.heed(.down, of: watched, on: terminal)
        view.heed(.open, of: watched, on: terminal)
        #expect(view.opened == JobID("8fa01b7c6d5e4f30"), "the first by name")
    }

    @Test func theChosenJobIsOnTheScreen() {
        let low = Canvas(columns: 80, rows: 7, hasColour: true, hasBlocks: true)
        var view = ScreenView()
        for _ in 0..<3 { view.heed(.down, of: watched, on: low) }
        let shown = view.lines(of: watched, on: low).prefix(low.rows ?? 0).map { $0.rendered(on: low) }
        #expect(shown.contains { $0.hasPrefix("\u{1B}[7mc3d2e1f0a9b87654") }, "\(shown)")
    }

    @Test func aLineThatANarrowerTerminalBrokeIsErasedWhole() {
        #expect(RedrawnLine.erasing(0, columns: 80) == "\r\u{1B}[K")
        #expect(RedrawnLine.erasing(80, columns: 80) == "\r\u{1B}[K")
        #expect(RedrawnLine.erasing(81, columns: 80) == "\u{1B}[1A\r\u{1B}[J")
        #expect(RedrawnLine.erasing(100, columns: 30) == "\u{1B}[3A\r\u{1B}[J")
    }

    @Test func nothingToShow() {
        let empty = QueueView(jobs: [], counts: (0, 0), pace: .none, workers: [])
        #expect(QueueText.lines(empty, strips: [:], at: 90, on: plain).last?.text == "no job waits or runs")
        #expect(JobText.lines([], at: 90, on: plain).map(\.text) == ["there are no jobs"])
        #expect(JobText.more(0) == nil)
        #expect(JobText.more(1)?.hasPrefix("1 more job has ended: reel-coordinator status ") == true)
        #expect(JobText.more(1450)?.hasPrefix("1450 more jobs have ended: ") == true)
        #expect(
            JobText.lines([], forgotten: 2, at: 90, on: plain).map(\.text) == [
                "there are no jobs",
                "the board knows none, but the store has 2 unfinished: reel-coordinator recover puts them back",
            ])
        #expect(WorkerText.lines([], on: plain)[0].text.hasPrefix("no worker is connected"))
    }

    @Test func aJobInFull() throws {
        let attempts = (1...2).map { number in
            PassFailure.Attempt(
                cause: "crash", reason: died, worker: "w\(number)", host: "node-\(number)",
                token: "t\(number)", time: 1_700_000_000 + Double(number))
        }
        var view = queue.jobs[0]
        let pass = Pass.video(pass: VideoPass(randomAccessPoint: 0, frames: 0..<12, chunkCount: 1))
        let failure = PassFailure(index: 39, attempts: ["crash": 2], recent: attempts)
        let log = (1...12).map { "line \($0)\n" }.joined() + "an \u{1B}[2J escape"
        view.failures = [
            FailureView(failure, work: .video, pass: pass, index: PlanTextTests.index(), logs: ["t2": log])
        ]
        view.failureCount = 3
        let strip = strip(done: 18, live: 2, failed: 1)
        #expect(
            text(JobText.lines(view, strip: strip, at: 90, on: plain), plain) == """
                job       5d0c2f3a9be17c44, running
                submitted 1m ago
                source    /films/holiday.mov
                frames    1800 of 4000, 45 %, 31.6 fps over the last minute, ETA 1:10
                passes    18/40 passes, 2 in flight, 19 ready, 1 retrying, oldest wait 0:32
                          #########################################>>>>.........................................!!..
                          # done  > running  . waiting  ! failed  (passes in the order in which they are given out)
                memory    1 GiB a pass, 512 MiB at most so far
                warning   the video has no timestamps: its frames are shown in order, at the rate it states

                pass 39, frames 0 to 11, 0:00.083 to 0:00.584 of the source, 2 x crash
                  2023-11-14T22:13:21Z  node-1  crash: engine died of signal 11 (SIGSEGV) between two requests
                  2023-11-14T22:13:22Z  node-2  crash: engine died of signal 11 (SIGSEGV) between two requests
                    | line 4
                    | line 5
                    | line 6
                    | line 7
                    | line 8
                    | line 9
                    | line 10
                    | line 11
                    | line 12
                    | an \\u{1B}[2J escape

                attempts failed of 2 passes more
                """)
    }

    @Test func theClipsOfAnEdit() {
        var view = queue.jobs[0]
        view.warnings = []
        view.clips = [
            ClipProgress(source: "a.mov", frames: 0..<60, direction: .forwards, passes: 5, passesDone: 5),
            ClipProgress(
                source: "a.mov", frames: 1..<59, direction: .backwards, passes: 5, passesDone: 3, passesLive: 1),
            ClipProgress(source: nil, frames: 0..<1, direction: .forwards, passes: 1, passesLive: 1),
            ClipProgress(source: "b.mp4", frames: 9..<10, direction: .forwards, passes: 1),
        ]
        #expect(
            text(JobText.lines(view, strip: nil, at: 90, on: plain), plain) == """
                job       5d0c2f3a9be17c44, running
                submitted 1m ago
                source    /films/holiday.mov
                clips     1  a.mov, 60 frames forward: done
                          2  a.mov, 58 frames back: 3 of 5 passes done, 1 worked on
                          3  black: worked on
                          4  b.mp4, 1 frame forward: waits
                frames    1800 of 4000, 45 %, 31.6 fps over the last minute, ETA 1:10
                passes    18/40 passes, 2 in flight, 19 ready, 1 retrying, oldest wait 0:32
                memory    1 GiB a pass, 512 MiB at most so far
                """)
        view.clips = (0..<30).map { clip in
            ClipProgress(
                source: "a.mov", frames: clip..<30, direction: .forwards, passes: 1, passesDone: clip < 25 ? 1 : 0)
        }
        let lines = JobText.lines(view, strip: nil, at: 90, on: plain).map(\.text)
        #expect(lines[3] == "clips     1  a.mov, 30 frames forward: done")
        #expect(lines[3 + 7] == "          26  a.mov, 5 frames forward: waits")
        #expect(lines[3 + 12] == "          and 18 more")
    }

    @Test func aCrashReportIsShownFromItsBeginning() {
        let attempt = PassFailure.Attempt(
            cause: "crash", reason: ReelFailure(.engineEnded), worker: "w", host: "h", token: "t", time: 0)
        let report = "a word before\n\n*** Program crashed: Bad pointer ***\n\nThread 0 crashed:\n"
        let registers = (1...40).map { "r\($0) 0\n" }.joined()
        let failure = PassFailure(index: 0, attempts: ["crash": 1], recent: [attempt])
        let log = FailureView(failure, logs: ["t": report + registers]).recent[0].log ?? []
        #expect(log.count == 10)
        #expect(log.prefix(3) == ["*** Program crashed: Bad pointer ***", "Thread 0 crashed:", "r1 0"])
    }

    @Test func whatTheSubmitterSays() throws {
        var view = queue.jobs[0]
        (view.name, view.labels) = ("Trailer, take 3", ["take": "3", "project": "trailer"])
        (view.submitter, view.weight) = ("alice@edit-2", 0.5)
        view.options = JobSpec(
            container: .mp4, videoCodec: "libx264", crf: 20, lossless: true, audio: .none,
            from: .seconds(Rational(5, 2)))
        let lines = JobText.lines(view, strip: nil, at: 3 * 24 * 3600, on: plain).map(\.text)
        #expect(
            lines.prefix(6) == [
                "job       5d0c2f3a9be17c44, running", "name      Trailer, take 3",
                "labels    project=trailer,take=3", "submitted 3d ago by alice@edit-2, weight 0.5",
                "options   mp4, audio none, crf 20, from 2.5, lossless, video codec libx264",
                "source    /films/holiday.mov",
            ])
    }

    /// Jobs, the first with a name and labels.
    private var labelled: [JobView] {
        var jobs = queue.jobs
        (jobs[0].name, jobs[0].labels) = ("Trailer, take 3", ["project": "trailer"])
        return jobs
    }

    @Test func jobsInAList() {
        #expect(
            text(JobText.lines(labelled, at: 90, on: plain), plain) == """
                JOB               STATE    DONE     SPEED   ETA  AGE  NAME             FILE         LABELS
                5d0c2f3a9be17c44  running  45 %  31.6 fps  1:10   1m  Trailer, take 3  holiday.mov  project=trailer
                8fa01b7c6d5e4f30  paused    0 %                   1m  b.mp4            b.mp4
                  waits: it is paused: let it go on
                c3d2e1f0a9b87654  failed   45 %                   1m  c.mp4            c.mp4
                  failed: pass 3 failed 3 times: engine died of signal 11 (SIGSEGV) between two requests
                """)
    }

    @Test func aNarrowListLeavesOutWholeFields() {
        func lines(_ columns: Int) -> [String] {
            let canvas = Canvas(columns: columns, rows: nil, hasColour: false, hasBlocks: false)
            return JobText.lines(labelled, at: 90, on: canvas).map(\.text)
        }
        #expect(lines(110)[0].hasSuffix("NAME             FILE         LABELS"))
        #expect(lines(90)[0].hasSuffix("AGE  NAME             FILE"))
        #expect(
            lines(60).prefix(3) == [
                "JOB               STATE    DONE   ETA  AGE  NAME",
                "5d0c2f3a9be17c44  running  45 %  1:10   1m  Trailer, take 3",
                "8fa01b7c6d5e4f30  paused    0 %         1m  b.mp4",
            ])
        #expect(lines(60).map(\.count).prefix(2).allSatisfy { $0 <= 60 })
        #expect(
            lines(30).prefix(3) == [
                "JOB       STATE    NAME", "5d0c2f3a  running  Trailer, ta", "8fa01b7c  paused   b.mp4",
            ])
        #expect(lines(12).prefix(2) == ["NAME", "Trailer, tak"])
    }

    @Test func ages() {
        func age(_ created: Double) -> String {
            var view = queue.jobs[0]
            view.created = created
            let line = JobText.lines([view], at: 1_000_000, on: plain)[1].text
            return line.split(separator: " ").dropLast().last.map(String.init) ?? ""
        }
        let created = [1_000_000.0, 999_941, 999_940, 996_400, 827_201, 827_200]
        #expect(created.map(age) == ["0s", "59s", "1m", "1h", "47h", "2d"])
        #expect(age(2_000_000) == "0s", "the clock of Redis may be ahead")
    }

    @Test func momentsThatLieBack() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let now = 1_800_000_000.0
        func moment(_ text: String) -> Double? { Moment(text, now: now, in: zone)?.seconds }
        #expect(moment("2h") == 1_799_992_800)
        #expect(moment("3d") == 1_799_740_800)
        // Berlin is an hour ahead of UTC in November.
        #expect(moment("2026-11-26") == 1_795_647_600)
        #expect(moment("2026-11-26T18:30") == 1_795_714_200)
        #expect(moment("2026-11-26T18:30:05") == 1_795_714_205)
        for wrong in ["", "yesterday", "2026-13-01", "2026-02-30", "2026-1-1", "2026-11-26T25:00", "-1h", "0h"] {
            #expect(moment(wrong) == nil, "\(wrong)")
        }
    }

    @Test func workers() {
        let held = [
            WorkerReport.Held(
                job: JobID("a"), index: 3, token: "t", plan: 1, decoded: 90, encoded: 60, wholeChunks: 0, frames: 240),
            WorkerReport.Held(job: JobID("a"), index: 0, token: "u", plan: 1, decoded: 0, encoded: 0, wholeChunks: 0),
        ]
        let report = WorkerReport(
            worker: WorkerID("node-1-77-ab"), host: "node-1", slots: 4, slotsOut: 1, memoryTotal: 3 << 30, encoders: [],
            protocolVersion: 1, notes: [.workerDiskFull(folders: ["/s"])], held: held)
        let holds = [
            "t": WorkerStatus.Hold(seconds: 4, work: .video), "u": WorkerStatus.Hold(seconds: 8, work: .audio),
        ]
        var told = report
        (told.version, told.store, told.uptime) = ("0.1.0", "/srv/reel", 7300)
        let views = [
            WorkerView(WorkerStatus(report: told, beatAge: 2.2, drained: .host, holds: holds)),
            WorkerView(WorkerStatus(report: report, beatAge: 40, isGone: true)),
        ]
        #expect(
            text(WorkerText.lines(views, drainedHosts: ["node-1", "node-2"], on: plain), plain) == """
                node-1-77-ab  node-1  2/4 slots, 1 out of work  3 GiB  beat 2 s ago  host drained
                  release 0.1.0, up for 2h, store /srv/reel
                  claims nothing: the disk of /s is full
                  a  pass 0, audio, for 0:08
                  a  pass 3, 60/240 frames, 15.0 fps, for 0:04
                node-1-77-ab  node-1  2/4 slots, 1 out of work  3 GiB  beat 40 s ago  gone
                  claims nothing: the disk of /s is full
                host node-2 is drained, and no worker is there
                """)
        #expect(
            text(WorkerText.lines([], drainedHosts: ["node-2"], on: plain), plain) == """
                no worker is connected
                host node-2 is drained, and no worker is there
                """)
    }

    @Test("on a narrow screen, facts that do not fit beside a worker or a job go below it, and nothing is cut off")
    func narrowScreens() {
        let narrow = Canvas(columns: 30, rows: 24, hasColour: false, hasBlocks: false)
        var report = WorkerReport(
            worker: WorkerID("node-1-77-ab"), host: "node-1", slots: 4, memoryTotal: 3 << 30, encoders: [],
            protocolVersion: 1, held: [])
        (report.version, report.store, report.uptime) = ("0.1.0", "/mnt/the-store-of-the-whole-farm/reel", 7300)
        let views = [WorkerView(WorkerStatus(report: report, beatAge: 2.2, drained: .host))]
        #expect(
            text(WorkerText.lines(views, drainedHosts: ["node-2"], on: narrow), narrow) == """
                node-1-77-ab  host drained
                  node-1  0/4 slots  3 GiB
                  beat 2 s ago
                  release 0.1.0, up for 2h,
                  store
                  /mnt/the-store-of-the-whole-
                  farm/reel
                host node-2 is drained, and no
                worker is there
                """)
        var view = queue.jobs[0]
        (view.warnings, view.state, view.finished) = ([], .done, 75)
        (view.framesPerSecond, view.eta, view.oldestWait, view.failures) = (0, nil, nil, [])
        #expect(
            text(JobText.lines(view, strip: nil, at: 90, on: narrow), narrow) == """
                job       5d0c2f3a9be17c44, 
                  done
                submitted 1m ago
                ended     15s ago, after 1:15
                source    /films/holiday.mov
                frames    1800 of 4000, 100 %
                passes    18/40 passes, 2 in
                          flight, 19 ready, 1
                          retrying
                memory    1 GiB a pass, 512
                          MiB at most so far
                """)
    }

    @Test("a list tells jobs of one file apart by their options, submitters and durations")
    func whatWasAskedFor() {
        var jobs = [queue.jobs[0], queue.jobs[1]]
        jobs[0].options = JobSpec(container: .mp4, crf: 20)
        var slow = JobSpec(container: .mkv, videoCodec: "libx265", crf: 30, preset: "slow")
        slow.audioCodec = "libopus"
        jobs[1].options = slow
        (jobs[0].submitter, jobs[1].weight, jobs[1].paused, jobs[1].waitReason) = ("alice@edit-2", 2.5, false, nil)
        (jobs[1].state, jobs[1].finished) = (.done, 3725)
        func lines(_ columns: Int) -> [String] {
            let canvas = Canvas(columns: columns, rows: nil, hasColour: false, hasBlocks: false)
            return JobText.lines(jobs, at: 4000, on: canvas).map(\.text)
        }
        #expect(
            lines(200) == [
                "JOB               STATE     DONE     SPEED   ETA  AGE     TOOK  NAME         OPTIONS                                   WEIGHT  BY",
                "5d0c2f3a9be17c44  running   45 %  31.6 fps  1:10   1h           holiday.mov  mp4, crf 20                                       alice@edit-2",
                "8fa01b7c6d5e4f30  done     100 %                   1h  1:02:05  b.mp4        mkv, audio codec libopus, crf 30, prese…     2.5",
            ])
        #expect(lines(120)[0].hasSuffix("  WEIGHT"))
        #expect(lines(60)[0].hasSuffix("AGE  NAME"))
    }

    @Test func stripsOfManyPasses() {
        let cells = (0..<100).map { PassStrip.Cell(passes: 1000, done: $0 < 50 ? 1000 : $0 == 50 ? 400 : 0) }
        let whole = PassStrip(cells: cells)
        #expect(StripText.line(whole, width: 10, on: plain).text == "#####.....")
        var telling = whole
        telling.cells[3].failed = 1
        telling.cells[50].live = 2
        #expect(StripText.line(telling, width: 10, on: plain).text == "!####>....")
        #expect(StripText.line(PassStrip(cells: [.init(passes: 1, live: 1)]), width: 4, on: plain).text == ">>>>")
        #expect(StripText.line(PassStrip(cells: []), width: 4, on: plain).text == "")
    }

    @Test func aScreenIsDrawnInPlace() {
        let canvas = Canvas(columns: 10, rows: 3, hasColour: false, hasBlocks: false)
        #expect(
            [ScreenLine("one"), ScreenLine("two and more than fits")].painted(on: canvas)
                == "\u{1B}[Hone\u{1B}[K\r\ntwo and mo\r\n\u{1B}[J")
        let many = (1...5).map { ScreenLine("\($0)") }
        #expect(many.painted(on: canvas) == "\u{1B}[H1\u{1B}[K\r\n2\u{1B}[K\r\n3 lines mo")
    }

    @Test func whatATerminalShows() {
        let names = { (canvas: Canvas) in [canvas.hasColour, canvas.hasBlocks] }
        #expect(names(.terminal(columns: 80, environment: ["TERM": "xterm"])) == [true, true])
        #expect(names(.terminal(columns: 80, environment: ["TERM": "xterm", "NO_COLOR": "1"])) == [false, true])
        #expect(names(.terminal(columns: 80, environment: ["TERM": "xterm", "LC_ALL": "C"])) == [true, false])
        #expect(
            names(.terminal(columns: 80, environment: ["TERM": "xterm", "LANG": "de_DE.UTF-8", "LC_ALL": ""]))
                == [true, true])
    }
}
