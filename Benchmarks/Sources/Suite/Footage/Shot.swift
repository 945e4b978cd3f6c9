internal import Foundation
internal import ReelRandom

/// The camera and the objects between two cuts, and how they move.
struct Shot: Sendable {
    /// Where the camera looks and how it moves; lengths in texture samples, times in frames.
    struct Camera: Sendable {
        var place: SIMD2<Double>
        var velocity: SIMD2<Double>
        /// Texture samples from pixel to pixel, and by which factor that changes with each frame.
        var scale: Double
        var zoom: Double
        var turn: Double
        var shake: Double

        /// The texture's sample at the picture's upper left corner, and the steps to the right and down.
        func view(at time: Double, width: Int, height: Int) -> (SIMD2<Double>, SIMD2<Double>, SIMD2<Double>) {
            let scale = scale * pow(zoom, time)
            let right = SIMD2(cos(turn * time), sin(turn * time)) * scale
            let down = SIMD2(-right.y, right.x)
            // A hand moves with a few frequencies that have nothing to do with each other.
            let hand = SIMD2(sin(time * 0.31) + sin(time * 0.83 + 1), sin(time * 0.27 + 2) + sin(time * 0.71)) * shake
            let middle = place + velocity * time + hand
            return (middle - right * Double(width / 2) - down * Double(height / 2), right, down)
        }
    }

    /// An ellipse in front of the background, in parts of the picture's height.
    struct Figure: Sendable {
        var centre: SIMD2<Double>
        var radius: SIMD2<Double>
        var velocity: SIMD2<Double>
        var sway: SIMD2<Double>
        var pace: Double
        var texture: Int
        var origin: SIMD2<Double>

        func middle(at time: Double, height: Int) -> SIMD2<Double> {
            let swaying = SIMD2(sin(time * pace), cos(time * pace * 0.7)) * sway
            return (centre + velocity * time + swaying) * Double(height)
        }
    }

    var frames: Range<Int>
    var texture: Int
    var camera: Camera
    var figures: [Figure]
    /// How much the light changes, and how fast.
    var flicker: (amount: Double, pace: Double)
    var tint: SIMD2<Int>
}

/// What the footage is like.
enum FootageKind: String, CaseIterable, Sendable {
    /// Cuts, pans, zooms, objects that cross the picture, grain.
    case film
    /// A still camera, a person who moves a little, hardly any grain.
    case talk
    /// Flat colours and hard lines, every second picture repeated.
    case drawing

    /// Standard deviation of the grain in 10-bit steps.
    var grain: Int { [.film: 6, .talk: 3, .drawing: 0][self] ?? 0 }

    /// Shots until there are as many frames as wanted.
    func shots(frames: Int, rate: Double, using random: inout SplitMix64) -> [Shot] {
        var (shots, start): ([Shot], Int) = ([], 0)
        while start < frames {
            let seconds =
                self == .talk ? Double.random(in: 12...25, using: &random) : Double.random(in: 1.5...7, using: &random)
            let end = min(frames, start + Int(seconds * rate))
            shots.append(shot(start..<max(end, start + 1), rate: rate, using: &random))
            start = end
        }
        return shots
    }

    private func shot(_ frames: Range<Int>, rate: Double, using random: inout SplitMix64) -> Shot {
        func any(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
        func pair(_ range: ClosedRange<Double>) -> SIMD2<Double> { SIMD2(any(range), any(range)) }
        // Speeds are per second, whatever the frame rate.
        let frame = 30 / rate
        let isCalm = self == .talk
        let camera = Shot.Camera(
            place: pair(0...2048), velocity: isCalm ? .zero : pair(-4...4) * SIMD2(1, 0.4) * frame,
            scale: any(0.75...1.1), zoom: isCalm ? 1 : 1 + any(-0.0015...0.0015) * frame,
            turn: isCalm ? 0 : any(-0.0006...0.0006) * frame, shake: self == .film ? any(0...1.5) : 0)
        let figures = (0..<(isCalm ? 2 : Int.random(in: 2...6, using: &random))).map { number in
            Shot.Figure(
                centre: SIMD2(any(0.2...1.6), isCalm ? 0.45 + 0.5 * Double(number) : any(0.2...0.9)),
                radius: isCalm ? SIMD2(0.16, 0.22) * Double(number + 1) : pair(0.06...0.26),
                velocity: isCalm ? .zero : pair(-0.006...0.006) * frame, sway: pair(0.004...0.02),
                pace: any(0.05...0.25) * frame, texture: Int.random(in: 0..<3, using: &random), origin: pair(0...2048))
        }
        return Shot(
            frames: frames, texture: Int.random(in: 0..<3, using: &random), camera: camera, figures: figures,
            flicker: (self == .film ? any(0...0.04) : 0, any(0.02...0.1)),
            tint: SIMD2(Int(any(-45...45)), Int(any(-45...45))))
    }
}
