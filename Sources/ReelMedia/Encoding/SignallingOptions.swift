internal import CFFmpeg
internal import ReelCore

/// Passes to encoders what FFmpeg 5.1's wrappers do not: the light levels for which a film was graded, which are then
/// in the key frames as well as in the container; and the first field from the start, because x264 contradicts itself
/// if only the frames state it.
struct SignallingOptions {
    let display: MasteringDisplay?
    let content: ContentLight?
    let fields: FieldOrder

    /// - Parameter fields: the field order of the output.
    init(_ stream: VideoStream, fields: FieldOrder) {
        display = stream.masteringDisplay
        content = stream.contentLight
        self.fields = fields
    }

    /// Adds the settings to an encoder's options.
    func add(to options: inout [MediaOption], as syntax: EncoderTraits.LightSyntax) {
        let (name, parameters) =
            switch syntax {
            case .x264: ("x264-params", fieldOrder + mastering("mastering-display", integers) + light("cll"))
            case .x265: ("x265-params", mastering("master-display", integers) + light("max-cll"))
            case .svtAV1: ("svtav1-params", mastering("mastering-display", decimals) + light("content-light"))
            }
        guard !parameters.isEmpty else { return }
        let text = parameters.joined(separator: ":")
        if let place = options.firstIndex(where: { $0.name == name }) {
            options[place].value += ":" + text
        } else {
            options.append(MediaOption(name: name, value: text))
        }
    }

    private var fieldOrder: [String] {
        fields.isInterlaced ? [fields == .topFirst ? "tff=1" : "bff=1"] : []
    }

    private func light(_ name: String) -> [String] {
        content.map { ["\(name)=\(min($0.pixel, 65535)),\(min($0.average, 65535))"] } ?? []
    }

    /// Encoders take primaries and luminance only together.
    private func mastering(
        _ name: String, _ spell: (_ value: Rational, _ unit: Int64) -> String
    ) -> [String] {
        guard let display, let primaries = display.primaries, let luminance = display.luminance else { return [] }
        func point(_ point: MasteringDisplay.Point) -> String {
            "(\(spell(point.x, 50_000)),\(spell(point.y, 50_000)))"
        }
        let colours =
            "G\(point(primaries.green))B\(point(primaries.blue))R\(point(primaries.red))WP\(point(primaries.white))"
        let limits = "L(\(spell(luminance.most, 10_000)),\(spell(luminance.least, 10_000)))"
        return ["\(name)=\(colours)\(limits)"]
    }

    /// In units of 0.00002 and of 0.0001 cd/m², as H.264 and HEVC write them (ITU-T H.265 D.3.28).
    private func integers(_ value: Rational, _ unit: Int64) -> String {
        "\(TimeBase(1, unit).ticks(in: value, rounding: .nearest))"
    }

    private func decimals(_ value: Rational, _ unit: Int64) -> String {
        let hundredThousandths = integers(value, 100_000)
        let padded = String(repeating: "0", count: max(0, 6 - hundredThousandths.count)) + hundredThousandths
        return "\(padded.dropLast(5)).\(padded.suffix(5))"
    }
}
