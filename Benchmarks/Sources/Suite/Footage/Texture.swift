import ReelRandom

/// A square picture without edges, of 10-bit samples: what a shot shows, and grain.
struct Texture: Sendable {
    /// Samples along a side; a power of two, so that places wrap by a mask.
    static let side = 2048

    private(set) var samples: [UInt16]

    init(_ samples: [UInt16]) { self.samples = samples }

    /// Noise of many scales, as clouds, walls and foliage have: each scale has `roughness` of the contrast of the one
    /// twice as wide. `ridged` folds it, so that lines appear.
    static func fractal(
        scales: ClosedRange<Int>, roughness: Float, ridged: Bool, centre: Float, contrast: Float,
        using random: inout SplitMix64
    ) -> Texture {
        var sum = [Float](repeating: 0, count: side * side)
        var (amplitude, total): (Float, Float) = (1, 0)
        for scale in scales {
            add(lattice(1 << scale, using: &random), cells: 1 << scale, amplitude, ridged, to: &sum)
            total += amplitude
            amplitude *= roughness
        }
        return Texture(sum.map { clamp(centre + contrast * $0 / total * 2.2) })
    }

    private static func lattice(_ cells: Int, using random: inout SplitMix64) -> [Float] {
        (0..<cells * cells).map { _ in Float.random(in: -1...1, using: &random) }
    }

    /// Adds a lattice of random values, smoothly interpolated.
    private static func add(
        _ lattice: [Float], cells: Int, _ amplitude: Float, _ ridged: Bool, to sum: inout [Float]
    ) {
        let step = side / cells
        let weights = (0..<step).map { place in
            let t = Float(place) / Float(step)
            return t * t * (3 - 2 * t)
        }
        for y in 0..<side {
            let (row, next, down) = (y / step * cells, (y / step + 1) % cells * cells, weights[y % step])
            for cell in 0..<cells {
                let right = (cell + 1) % cells
                let left = lattice[row + cell] + (lattice[next + cell] - lattice[row + cell]) * down
                let slope = lattice[row + right] + (lattice[next + right] - lattice[row + right]) * down - left
                for x in 0..<step {
                    let value = left + slope * weights[x]
                    sum[y * side + cell * step + x] += amplitude * (ridged ? 0.6 - 2 * abs(value) : value)
                }
            }
        }
    }

    /// Draws upright rectangles, some of them filled with a grid of smaller ones: houses, signs, print.
    mutating func build(_ count: Int, using random: inout SplitMix64) {
        for _ in 0..<count {
            let (width, height) = (Int.random(in: 24...260, using: &random), Int.random(in: 24...340, using: &random))
            let (x, y) = (
                Int.random(in: 0..<Texture.side, using: &random), Int.random(in: 0..<Texture.side, using: &random)
            )
            let shade = Int.random(in: -260...260, using: &random)
            let pitch = Int.random(in: 5...23, using: &random)
            let pane = Bool.random(using: &random) ? Int.random(in: -300...300, using: &random) : 0
            for row in 0..<height {
                for column in 0..<width {
                    let place = ((y + row) % Texture.side) * Texture.side + (x + column) % Texture.side
                    let isPane = row % pitch * 3 > pitch && column % pitch * 3 > pitch
                    // What was there shines through, as the grain of a wall.
                    let value = (Int(samples[place]) - 512) / 3 + 512 + shade + (isPane ? pane : 0)
                    samples[place] = UInt16(min(max(value, 64), 940))
                }
            }
        }
    }

    /// Grain: noise around 512 without scales, each sample a little like its neighbours.
    static func grain(using random: inout SplitMix64) -> Texture {
        var noise = (0..<side * side).map { _ in
            let bits = random.next()
            return Float(bits & 0xffff) + Float(bits >> 16 & 0xffff) + Float(bits >> 32 & 0xffff) + Float(bits >> 48)
        }
        // Four uniform numbers are nearly normal; their standard deviation is 65536 / √3.
        for place in noise.indices { noise[place] = (noise[place] - 131_070) / 37_837 * 64 }
        let raw = noise
        for place in 0..<noise.count - side {
            noise[place] = 0.75 * raw[place] + 0.4 * raw[place + 1] + 0.4 * raw[place + side]
        }
        return Texture(noise.map { clamp(512 + $0) })
    }

    private static func clamp(_ value: Float) -> UInt16 { UInt16(min(max(value, 16), 1000)) }
}
