internal import Foundation

/// One plane of a picture, 10-bit samples.
struct Plane {
    let samples: UnsafeMutableBufferPointer<UInt16>
    let width: Int
    let height: Int

    /// Fills it, or an ellipse of it, with a texture seen from `corner` in steps `right` and `down`; samples are multiplied
    /// by gain ÷ 256 around the middle, and the offset is added.
    func fill(
        _ texture: Texture, _ corner: SIMD2<Double>, _ right: SIMD2<Double>, _ down: SIMD2<Double>, gain: Int,
        offset: Int, ellipse: (middle: SIMD2<Double>, radius: SIMD2<Double>)? = nil
    ) {
        let (stepX, stepY) = (Int(right.x * 65536), Int(right.y * 65536))
        let origin = ellipse.map { $0.middle - $0.radius } ?? .zero
        texture.samples.withUnsafeBufferPointer { source in
            for y in 0..<height {
                guard let columns = columns(ofRow: y, in: ellipse) else { continue }
                // A figure carries its texture along.
                let start = corner + right * (Double(columns.lowerBound) - origin.x) + down * (Double(y) - origin.y)
                var (u, v) = (Int(start.x * 65536), Int(start.y * 65536))
                for place in y * width + columns.lowerBound..<y * width + columns.upperBound {
                    let value = Plane.sample(source, u, v)
                    let shade = (((value &- 512) &* gain) >> 8) &+ 512 &+ offset
                    samples[place] = UInt16(min(max(shade, 16), 1000))
                    u &+= stepX
                    v &+= stepY
                }
            }
        }
    }

    /// The part of a row that an ellipse covers; all of it if there is no ellipse.
    private func columns(ofRow y: Int, in ellipse: (middle: SIMD2<Double>, radius: SIMD2<Double>)?) -> Range<Int>? {
        guard let ellipse else { return 0..<width }
        let height = (Double(y) - ellipse.middle.y) / ellipse.radius.y
        guard abs(height) < 1 else { return nil }
        let half = ellipse.radius.x * (1 - height * height).squareRoot()
        let (left, right) = (max(0, Int(ellipse.middle.x - half)), min(width, Int(ellipse.middle.x + half)))
        return left < right ? left..<right : nil
    }

    /// The sample between four of a texture, at a place in 16.16 fixed point.
    @inline(__always)
    private static func sample(_ source: UnsafeBufferPointer<UInt16>, _ u: Int, _ v: Int) -> Int {
        let mask = Texture.side - 1
        let (x, y, fractionX, fractionY) = (u >> 16 & mask, v >> 16 & mask, u >> 8 & 255, v >> 8 & 255)
        let (next, row, below) = ((x &+ 1) & mask, y &* Texture.side, ((y &+ 1) & mask) &* Texture.side)
        let top = Int(source[row &+ x]) &* (256 &- fractionX) &+ Int(source[row &+ next]) &* fractionX
        let bottom = Int(source[below &+ x]) &* (256 &- fractionX) &+ Int(source[below &+ next]) &* fractionX
        return (top &* (256 &- fractionY) &+ bottom &* fractionY) >> 16
    }

    /// Adds grain of this standard deviation, from somewhere in the texture that holds it (there it has 64).
    func add(_ grain: Texture, from place: UInt64, strength: Int) {
        let mask = Texture.side - 1
        let (left, top) = (Int(place & 0x7ff), Int(place >> 20 & 0x7ff))
        grain.samples.withUnsafeBufferPointer { source in
            for y in 0..<height {
                let row = ((y &+ top) & mask) &* Texture.side
                for x in 0..<width {
                    let noise = (Int(source[row &+ ((x &+ left) & mask)]) &- 512) &* strength >> 6
                    samples[y &* width &+ x] = UInt16(min(max(Int(samples[y &* width &+ x]) &+ noise, 16), 1000))
                }
            }
        }
    }
}

extension Texture {
    /// The same with few shades.
    func flattened(levels: Int) -> Texture {
        let step = 1024 / levels
        return Texture(samples.map { UInt16(min(Int($0) / step * step + step / 2, 960)) })
    }
}
