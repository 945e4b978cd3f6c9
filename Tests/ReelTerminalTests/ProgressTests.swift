import ReelTerminal
import Testing

@Suite struct KeyboardTests {
    private func keys(_ text: String) -> [Keyboard.Key] { Keyboard.keys(text.utf8) }

    @Test func whatATerminalSends() {
        #expect(keys("q") == [.quit])
        #expect(keys("\u{1B}[A\u{1B}[B\u{1B}OB") == [.up, .down, .down])
        #expect(keys("\u{1B}[5~\u{1B}[6~\u{1B}[H\u{1B}[F") == [.pageUp, .pageDown, .home, .end])
        #expect(keys("x\u{1B}[3~ä\u{1B}[1;5P") == [])
        #expect(keys("\rs\n\u{7F}\u{1B}") == [.open, .sort, .open, .back, .back])
        #expect(keys("\u{1B}[C\u{1B}[D") == [.open, .back])
        #expect(Keyboard.keys([0xFF, UInt8(ascii: "Q")]) == [.quit])
    }

    @Test func scrollingStaysWithinTheLines() {
        func place(_ keys: [Keyboard.Key], count: Int = 30) -> Int {
            var place = ScrollPlace()
            for key in keys { place.heed(key, count: count, rows: 10) }
            return place.first
        }
        #expect(place([.down, .down, .up]) == 1)
        #expect(place([.up]) == 0)
        #expect(place([.pageDown]) == 9)
        #expect(place([.pageDown, .pageDown, .pageDown]) == 20)
        #expect(place([.end, .pageUp]) == 11)
        #expect(place([.end, .home]) == 0)
        #expect(place([.down], count: 10) == 0)
    }
}

@Suite struct ProgressTests {
    private func sample(_ frames: Int, of total: Int = 1000, at seconds: Double, assembling: Bool = false)
        -> ProgressSample
    {
        ProgressSample(frames: frames, total: total, assembling: assembling, seconds: seconds)
    }

    @Test func speedAndWhatIsLeft() {
        var meter = ProgressMeter()
        meter.add(sample(100, at: 0))
        #expect(meter.framesPerSecond == nil)
        meter.add(sample(150, at: 2))
        #expect(meter.framesPerSecond == 25)
        #expect(meter.secondsLeft == 34)
    }

    @Test func speedIsThatOfTheLastTwentySeconds() {
        var meter = ProgressMeter()
        for second in 0...100 {
            meter.add(sample(second < 50 ? second * 2 : 100 + (second - 50) * 8, at: Double(second)))
        }
        #expect(meter.framesPerSecond == 8)
    }

    @Test func bar() {
        var meter = ProgressMeter()
        meter.add(sample(0, at: 0))
        #expect(meter.bar(columns: 80) == "[" + String(repeating: "-", count: 40) + "]    0 %  0/1000 frames")
        meter.add(sample(500, at: 10))
        #expect(
            meter.bar(columns: 80) == "[################-----------------]   50 %  500/1000 frames  50.0 fps  ETA 0:10")
    }

    @Test func theClipThatIsWorkedOn() {
        var meter = ProgressMeter()
        meter.add(ProgressSample(frames: 10, total: 100, assembling: false, seconds: 0, clip: "clip 2 of 5, day.mov"))
        #expect(
            meter.bar(columns: 80) == "[###------------------------------]   10 %  10/100 frames  clip 2 of 5, day.mov")
        #expect(meter.bar(columns: 48) == "[##---------------------]   10 %  10/100 frames")
        #expect(meter.step() == "10 %, 10 of 100 frames, clip 2 of 5, day.mov")
        meter.add(ProgressSample(frames: 100, total: 100, assembling: true, seconds: 1, clip: "2 of 3, day.mov"))
        #expect(meter.bar(columns: 80).hasSuffix("assembling  2 of 3, day.mov"))
        #expect(meter.step() == "100 %, 100 of 100 frames, 2 of 3, day.mov; assembling")
    }

    @Test("a long assembly moves on, in the bar and line by line")
    func assembly() {
        func sample(_ done: Double?, at seconds: Double) -> ProgressSample {
            ProgressSample(frames: 60, total: 60, assembling: true, assembled: done, seconds: seconds)
        }
        var meter = ProgressMeter()
        meter.add(sample(nil, at: 0))
        #expect(meter.bar(columns: 60).hasSuffix("assembling"))
        #expect(meter.step() == "100 %, 60 of 60 frames; assembling")
        meter.add(sample(0.19, at: 2))
        #expect(meter.bar(columns: 60).hasSuffix("assembling, 19 %"))
        // Most assemblies take a moment.
        #expect(meter.step() == nil)
        meter.add(sample(0.42, at: 9))
        #expect(meter.step() == "assembling, 40 %" && meter.step() == nil)
        meter.add(sample(0.49, at: 10))
        #expect(meter.step() == nil)
        meter.add(sample(0.5, at: 11))
        #expect(meter.step() == "assembling, 50 %")
    }

    @Test func aFileNameDoesNotControlTheTerminal() {
        var meter = ProgressMeter()
        meter.add(
            ProgressSample(frames: 1, total: 9, assembling: false, seconds: 0, clip: "clip 1 of 2, \u{1B}[2J\r\n.mov"))
        #expect(meter.bar(columns: 200).unicodeScalars.allSatisfy { $0.value >= 32 })
        #expect(meter.bar(columns: 200).contains(".mov"))
    }

    @Test func decodingCounts() {
        var meter = ProgressMeter()
        meter.add(ProgressSample(frames: 0, decoded: 0, total: 100, assembling: false, seconds: 0))
        meter.add(ProgressSample(frames: 0, decoded: 50, total: 100, assembling: false, seconds: 5))
        #expect(meter.bar(columns: 80).hasSuffix("]   25 %  0/100 frames  ETA 0:15"))
        meter.add(ProgressSample(frames: 30, decoded: 20, total: 100, assembling: false, seconds: 6))
        #expect(meter.bar(columns: 80).hasSuffix("]   30 %  30/100 frames  5.0 fps  ETA 0:14"))
    }

    @Test func betweenReportsTheTimeThatIsLeftFalls() {
        var meter = ProgressMeter()
        meter.add(sample(0, at: 0))
        var left: [Double] = []
        for tenth in 1...200 {
            meter.add(sample(tenth / 50 * 100, at: Double(tenth) / 10))
            if let seconds = meter.secondsLeft { left.append(seconds) }
        }
        #expect(left.count == 151)
        #expect(zip(left, left.dropFirst()).allSatisfy { $0 - $1 > 0.09 })
        for tenth in 201...450 { meter.add(sample(400, at: Double(tenth) / 10)) }
        #expect(meter.secondsLeft == nil, "nothing has come for longer than speed is measured")
    }

    @Test(arguments: [
        (80, "[################-----------------]   50 %  500/1000 frames  50.0 fps  ETA 0:10"),
        (55, "[####----]   50 %  500/1000 frames  50.0 fps  ETA 0:10"),
        (54, " 50 %  500/1000 frames  50.0 fps  ETA 0:10"), (42, " 50 %  500/1000 frames  ETA 0:10"),
        (30, "[#####-----]   50 %  ETA 0:10"), (16, " 50 %  ETA 0:10"), (12, " 50 %"), (3, ""),
    ])
    func whatDoesNotFitIsLeftOutAsAWhole(columns: Int, bar: String) {
        var meter = ProgressMeter()
        meter.add(sample(0, at: 0))
        meter.add(sample(500, at: 10))
        #expect(meter.bar(columns: columns) == bar)
    }

    @Test(arguments: [10, 20, 40, 60, 80, 200])
    func barNeverWraps(columns: Int) {
        var meter = ProgressMeter()
        meter.add(sample(0, of: 100_000, at: 0))
        meter.add(sample(99_999, of: 100_000, at: 7))
        #expect(meter.bar(columns: columns).count < columns)
    }

    @Test func oneLineAStepOfTenPercent() {
        var meter = ProgressMeter()
        var lines: [String] = []
        for second in 0...40 {
            meter.add(sample(second * 25, at: Double(second)))
            if let line = meter.step() { lines.append(line) }
        }
        #expect(lines.count == 11)
        #expect(lines.first == "0 %, 0 of 1000 frames")
        #expect(lines[1] == "10 %, 100 of 1000 frames, 25.0 fps, ETA 0:36")
        #expect(lines.last == "100 %, 1000 of 1000 frames, 25.0 fps, ETA 0:00")
    }

    @Test func assemblingIsReportedOnce() {
        var meter = ProgressMeter()
        meter.add(sample(990, at: 0))
        #expect(meter.step() == "90 %, 990 of 1000 frames")
        meter.add(sample(1000, at: 1, assembling: true))
        #expect(meter.step() == "100 %, 1000 of 1000 frames; assembling")
        #expect(meter.step() == nil)
        #expect(meter.bar(columns: 100).hasSuffix("100 %  1000/1000 frames  assembling"))
    }

    @Test func noFramesAtAll() {
        var meter = ProgressMeter()
        #expect(meter.bar(columns: 80) == "")
        #expect(meter.step() == nil)
        meter.add(sample(0, of: 0, at: 0))
        #expect(meter.step() == "0 %, 0 of 0 frames")
    }
}
