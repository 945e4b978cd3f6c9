/// What a finished pass reports to the board.
package struct PassResult: Hashable, Codable, Sendable {
    /// The segments in chunk order; empty for the assembly.
    package var segments: [SegmentRecord]
    package var statistics: PassStatistics
    package var diagnostics: [Diagnostic]

    package init(segments: [SegmentRecord], statistics: PassStatistics, diagnostics: [Diagnostic]) {
        self.segments = segments
        self.statistics = statistics
        self.diagnostics = diagnostics
    }
}

package struct PassStatistics: Hashable, Codable, Sendable {
    /// Frames that came out of the decoder, including discarded ones.
    package var framesDecoded: Int
    package var framesEncoded: Int
    package var decodeSeconds: Double
    package var encodeSeconds: Double
    /// Seconds spent waiting for files.
    package var waitSeconds: Double
    /// The engine's peak resident memory so far, in bytes.
    package var peakRSS: Int64
    /// Seconds of CPU time that the engine took, as its worker saw it.
    package var cpuSeconds: Double
    /// The bytes of an assembly's output; nil for passes.
    package var outputBytes: Int64?

    package init(
        framesDecoded: Int = 0, framesEncoded: Int = 0, decodeSeconds: Double = 0, encodeSeconds: Double = 0,
        waitSeconds: Double = 0, peakRSS: Int64 = 0, cpuSeconds: Double = 0, outputBytes: Int64? = nil
    ) {
        self.framesDecoded = framesDecoded
        self.framesEncoded = framesEncoded
        self.decodeSeconds = decodeSeconds
        self.encodeSeconds = encodeSeconds
        self.waitSeconds = waitSeconds
        self.peakRSS = peakRSS
        self.cpuSeconds = cpuSeconds
        self.outputBytes = outputBytes
    }

    /// Rejects numbers that cannot be added up: negative, too large, or not finite.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        framesDecoded = try container.decode(Int.self, forKey: .framesDecoded)
        framesEncoded = try container.decode(Int.self, forKey: .framesEncoded)
        decodeSeconds = try container.decode(Double.self, forKey: .decodeSeconds)
        encodeSeconds = try container.decode(Double.self, forKey: .encodeSeconds)
        waitSeconds = try container.decode(Double.self, forKey: .waitSeconds)
        peakRSS = try container.decode(Int64.self, forKey: .peakRSS)
        cpuSeconds = try container.decodeIfPresent(Double.self, forKey: .cpuSeconds) ?? 0
        outputBytes = try container.decodeIfPresent(Int64.self, forKey: .outputBytes)
        let counts = [Int64(framesDecoded), Int64(framesEncoded), peakRSS, outputBytes ?? 0]
        let seconds = [decodeSeconds, encodeSeconds, waitSeconds, cpuSeconds]
        guard counts.allSatisfy({ (0...1 << 50).contains($0) }), seconds.allSatisfy({ (0...0x1p40).contains($0) })
        else {
            throw decoder.impossible("the cost of the pass is out of range")
        }
    }
}
