internal import CFFmpeg
package import ReelCore

/// Pictures for people, side by side in one JPEG: upright, with square pixels, in the colours of JPEG. Places without a
/// picture are black.
package final class PictureSheet {
    private let fitting: PictureFitting
    private let cell: PictureSize
    private let count: Int
    /// The streams of the pictures and of the sheet.
    private let (stream, sheetStream): (VideoStream, VideoStream)
    private let sheet, fitted: Frame

    /// A black sheet for 1 to 100 pictures of a source. Each is fitted into `bounds`; small pictures stay small.
    package init(_ count: Int, of stream: VideoStream, within bounds: PictureSize) throws(ReelFailure) {
        self.count = min(max(count, 1), 100)
        self.stream = stream
        cell = stream.shownSize.fitted(into: bounds)
        var shown = stream
        (shown.width, shown.height) = (cell.width * self.count, cell.height)
        (shown.sampleAspectRatio, shown.displayMatrix) = (Rational(1), nil)
        (shown.pixelFormat, shown.colour) = (Self.pixelFormat, ColourTags(range: "pc", matrix: "bt470bg"))
        sheetStream = shown
        let ofCell = OutputFormat(
            of: shown, [.forwards], timeBase: shown.timeBase, pixelFormat: Self.pixelFormat, size: cell)
        fitting = PictureFitting(stream, into: shown, ofCell)
        sheet = try Frame()
        fitted = try Frame()
        let ofSheet = OutputFormat(of: shown, [.forwards], timeBase: shown.timeBase, pixelFormat: Self.pixelFormat)
        try sheet.fillBlack(ofSheet, range: "pc")
    }

    /// A black sheet for pictures of an output. `main` is the stream of the source whose colours the output has.
    package convenience init(
        _ count: Int, of format: OutputFormat, like main: VideoStream, within bounds: PictureSize
    ) throws(ReelFailure) {
        var stream = main
        (stream.width, stream.height) = (format.width, format.height)
        (stream.sampleAspectRatio, stream.displayMatrix) = (format.sampleAspectRatio, format.displayMatrix)
        stream.pixelFormat = format.pixelFormat
        stream.colour = main.colour.converted(
            from: av_get_pix_fmt(main.pixelFormat), to: av_get_pix_fmt(format.pixelFormat))
        try self.init(count, of: stream, within: bounds)
    }

    private static let pixelFormat = "yuvj420p"

    /// Shows frames of a source, the first one in the first place. Throws the errors of decoding a pass.
    package func show(_ sample: FrameSample, of source: IndexedSource) throws(ReelFailure) {
        let track = source.index.video
        let starts = try StartTable(track)
        // The clip is not shown. The converter needs one, and is used only to bring pictures to the stream's size.
        let clip = Clip(
            frames: 0..<track.frames.count,
            map: TimeMap(
                .forwards, source: stream.timeBase, output: stream.timeBase, start: Timestamp(0), end: Timestamp(0)))
        let reader = try FrameWindowReader(
            source, [.forwards], shown: { ShownFrames(of: $0, from: sample.first, step: sample.step) },
            converter: try PictureConverter(
                format: OutputFormat(
                    of: stream, [.forwards], timeBase: stream.timeBase, pixelFormat: stream.pixelFormat),
                stream: stream, main: stream, clip: clip), threads: 2)
        // The frames between two windows are decoded only if there is no later start.
        var windows: [Range<Int>] = []
        for frame in sample.frames where frame < track.frames.count {
            if let last = windows.last, starts.point(for: last.lowerBound) == starts.point(for: frame) {
                windows[windows.count - 1] = last.lowerBound..<frame + 1
            } else {
                windows.append(frame..<frame + 1)
            }
        }
        for window in windows {
            try reader.read([window], progress: { _ in }) { (frame, picture, _) throws(ReelFailure) in
                try show(picture, at: (frame - sample.first) / sample.step)
            }
        }
    }

    /// Shows a picture of a file at a place, counted from 0. Throws `.nothingDecodes` if the file has none at that
    /// time, and what opening and decoding it throws.
    package func show(_ wanted: FilePicture, at place: Int) throws(ReelFailure) {
        let demuxer = try Demuxer(wanted.file, purpose: .output)
        guard let stream = demuxer.stream(0) else { throw ReelFailure(.nothingDecodes(path: wanted.file.name)) }
        demuxer.select([0])
        let clock = stream.timeBase
        let begin = Timestamp(native: stream.pointee.start_time) ?? Timestamp(0)
        let start = begin + Ticks(clock.ticks(in: wanted.start, rounding: .nearest))
        let due = start - Ticks(clock.ticks(in: wanted.lasts / Rational(2), rounding: .nearest))
        // If the container cannot seek, reading begins at the start.
        _ = demuxer.seek(stream: 0, to: start)
        let decoder = try Decoder(stream: stream, threads: 2, path: wanted.file.name)
        let packet = try Packet()
        let frame = try Frame()
        let latest = try Frame()
        var isDrained = false
        while true {
            switch try decoder.receive(into: frame) {
            case .frame:
                latest.take(frame)
                if let time = latest.bestTimestamp, time < due { continue }
                return try show(latest, at: place)
            case .again where !isDrained:
                if try demuxer.read(into: packet) {
                    _ = try decoder.send(packet)
                } else {
                    try decoder.drain()
                    isDrained = true
                }
            case .again, .end:
                // The last one stands for times after it.
                guard latest.width > 0 else { throw ReelFailure(.nothingDecodes(path: wanted.file.name)) }
                return try show(latest, at: place)
            }
        }
    }

    private func show(_ picture: borrowing Frame, at place: Int) throws(ReelFailure) {
        guard (0..<count).contains(place) else { return }
        try fitting.fit(picture, into: fitted)
        try sheet.show(fitted, at: PictureArea(x: place * cell.width, y: 0, width: cell.width, height: cell.height))
        fitted.reset()
    }

    /// Writes the JPEG, as a whole.
    package func write(to file: Locator) throws(ReelFailure) {
        let encoder = try Encoder("mjpeg", options: []) { (context) throws(ReelFailure) in
            context.describePictures(sheet.width, sheet.height, av_get_pix_fmt(Self.pixelFormat), TimeBase(1, 25))
            sheetStream.colour.apply(to: context)
            context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            context.pointee.global_quality = Self.quantiser * FF_QP2LAMBDA
        }
        (sheet.pts, sheet.native.pointee.quality) = (Timestamp(0), Self.quantiser * FF_QP2LAMBDA)
        sheetStream.colour.apply(to: sheet)
        try encoder.send(sheet)
        try encoder.finish()
        let packet = try Packet()
        guard try encoder.receive(into: packet) else { throw ReelFailure(.nothingToEncode) }
        try file.write(packet.withBytes { Array($0) })
    }

    /// From 2, the finest, to 31.
    private static let quantiser: Int32 = 4
}

extension PictureSize {
    /// The greatest size in the same proportions within bounds, but no greater than this; even sides.
    fileprivate func fitted(into bounds: PictureSize) -> PictureSize {
        let scale = min(
            Rational(1), Rational(Int64(bounds.width), Int64(max(width, 1))),
            Rational(Int64(bounds.height), Int64(max(height, 1))))
        func even(_ side: Int) -> Int {
            max(Int(TimeBase(2, 1).ticks(in: Rational(Int64(side)) * scale, rounding: .nearest)) * 2, 2)
        }
        return PictureSize(width: even(width), height: even(height))
    }
}
