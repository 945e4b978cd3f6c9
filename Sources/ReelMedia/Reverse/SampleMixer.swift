internal import CFFmpeg
internal import ReelCore

/// Mixes interleaved samples of one format.
struct SampleMixer {
    private let channels: Int
    /// Mixes one sample of one channel into `falling`, by the share of `rising`.
    private let mixSample: Mix

    private typealias Mix = (
        _ rising: UnsafeRawPointer, _ falling: UnsafeMutableRawPointer, _ place: Int, _ share: Double
    ) -> Void

    /// Throws if libavutil has a sample format that is not known here.
    init(_ format: AVSampleFormat, channels: Int) throws(ReelFailure) {
        self.channels = channels
        switch format {
        case AV_SAMPLE_FMT_U8: mixSample = Self.integers(UInt8.self, zero: 128)
        case AV_SAMPLE_FMT_S16: mixSample = Self.integers(Int16.self)
        case AV_SAMPLE_FMT_S32: mixSample = Self.integers(Int32.self)
        case AV_SAMPLE_FMT_S64: mixSample = Self.integers(Int64.self)
        case AV_SAMPLE_FMT_FLT: mixSample = Self.floats(Float.self)
        case AV_SAMPLE_FMT_DBL: mixSample = Self.floats(Double.self)
        default: throw mediaFailure(reel_error_invalid_data, .convertSamples)
        }
    }

    /// Replaces `falling` by its mixture with `rising`. `share` is the share of `rising` in a sample, counted from 0;
    /// outside 0...1 it counts as the nearer end.
    func mix(
        _ rising: UnsafeRawPointer, into falling: UnsafeMutableRawPointer, _ samples: Int, share: (Int) -> Double
    ) {
        for sample in 0..<samples {
            let share = min(max(share(sample), 0), 1)
            for channel in 0..<channels { mixSample(rising, falling, sample * channels + channel, share) }
        }
    }

    private static func integers<Sample: FixedWidthInteger>(
        _: Sample.Type, zero: Double = 0
    ) -> Mix {
        { rising, falling, place, share in
            let offset = place * MemoryLayout<Sample>.size
            let (a, b) = (
                Double(falling.loadUnaligned(fromByteOffset: offset, as: Sample.self)) - zero,
                Double(rising.loadUnaligned(fromByteOffset: offset, as: Sample.self)) - zero
            )
            // Within the range of both, except that Double rounds the greatest integers of 64 bits up.
            let mixed = (a + (b - a) * share).rounded() + zero
            falling.storeBytes(
                of: Sample(exactly: mixed) ?? (mixed > 0 ? .max : .min), toByteOffset: offset, as: Sample.self)
        }
    }

    private static func floats<Sample: BinaryFloatingPoint>(
        _: Sample.Type
    ) -> Mix {
        { rising, falling, place, share in
            let offset = place * MemoryLayout<Sample>.size
            let (a, b) = (
                Double(falling.loadUnaligned(fromByteOffset: offset, as: Sample.self)),
                Double(rising.loadUnaligned(fromByteOffset: offset, as: Sample.self))
            )
            falling.storeBytes(of: Sample(a + (b - a) * share), toByteOffset: offset, as: Sample.self)
        }
    }
}
