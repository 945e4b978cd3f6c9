internal import Foundation
internal import ReelRandom

/// A synthetic film: the same seed gives the same pictures. Test patterns mislead, since they cost an encoder
/// nothing; this has texture at every scale, motion by fractions of pixels, objects that cover one another, cuts,
/// changing light and grain.
struct Footage: Sendable {
    let kind: FootageKind
    let width: Int
    let height: Int
    private let shots: [Shot]
    private let textures: [Texture]
    private let grain: Texture
    private let seed: UInt64

    init(kind: FootageKind, width: Int, height: Int, frames: Int, rate: Double, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        self.kind = kind
        (self.width, self.height, self.seed) = (width, height, seed)
        shots = kind.shots(frames: frames, rate: rate, using: &random)
        var (meadow, town, cloth) = (
            Texture.fractal(
                scales: 3...10, roughness: 0.8, ridged: false, centre: 480, contrast: 640, using: &random),
            Texture.fractal(scales: 2...10, roughness: 0.65, ridged: false, centre: 520, contrast: 260, using: &random),
            Texture.fractal(scales: 4...10, roughness: 0.75, ridged: true, centre: 500, contrast: 330, using: &random)
        )
        town.build(700, using: &random)
        if kind == .drawing {
            meadow = meadow.flattened(levels: 5)
            cloth = cloth.flattened(levels: 3)
            town = town.flattened(levels: 9)
        }
        textures = [meadow, town, cloth]
        grain = .grain(using: &random)
    }

    /// Luma, then both chroma planes at half the size, of a frame: 10-bit samples.
    func picture(_ number: Int, into samples: UnsafeMutableBufferPointer<UInt16>) {
        guard let shot = shots.first(where: { $0.frames.contains(number) }) else { return }
        let held = kind == .drawing ? number & ~1 : number
        let time = Double(held - shot.frames.lowerBound)
        let light = Int(256 * (1 + shot.flicker.amount * sin(time * shot.flicker.pace)))
        let luma = width * height
        let plane = Plane(samples: .init(rebasing: samples[..<luma]), width: width, height: height)
        let (corner, right, down) = shot.camera.view(at: time, width: width, height: height)
        plane.fill(textures[shot.texture], corner, right, down, gain: light, offset: 0)
        draw(shot, time, on: plane, chroma: nil)
        if kind.grain > 0 {
            var random = SplitMix64(seed: seed &+ UInt64(number))
            plane.add(grain, from: random.next(), strength: kind.grain)
        }
        for (place, tint) in [shot.tint.x, shot.tint.y].enumerated() {
            let start = luma + place * luma / 4
            let chroma = Plane(
                samples: .init(rebasing: samples[start..<start + luma / 4]), width: width / 2, height: height / 2)
            // Chroma varies less than luma, and in other places.
            chroma.fill(
                textures[(shot.texture + place) % 3], corner / 3, right / 1.5, down / 1.5, gain: 44, offset: tint)
            draw(shot, time, on: chroma, chroma: place)
        }
    }

    private func draw(_ shot: Shot, _ time: Double, on plane: Plane, chroma: Int?) {
        let scale = Double(plane.height) / Double(height)
        for (number, figure) in shot.figures.enumerated() {
            let middle = figure.middle(at: time, height: height) * scale
            let radius = figure.radius * Double(height) * scale
            let tone = chroma.map { (number * 97 + $0 * 53) % 160 - 80 } ?? 0
            plane.fill(
                textures[figure.texture], figure.origin, SIMD2(0.8, 0), SIMD2(0, 0.8),
                gain: chroma == nil ? 256 : 36, offset: tone, ellipse: (middle, radius))
        }
    }
}
