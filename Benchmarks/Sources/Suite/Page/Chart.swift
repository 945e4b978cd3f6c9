internal import Foundation

/// Pictures as SVG.
enum Chart {
    struct Line {
        var name: String
        var points: [(x: Double, y: Double)]
    }

    private static let colours = ["#0b7285", "#e8590c", "#5f3dc4", "#2b8a3e", "#a61e4d"]

    /// Bars from the left, one each, beside their names and values; the first is the one in colour.
    static func bars(_ title: String, _ bars: [(name: String, value: Double)], format: String) -> String {
        let most = bars.map(\.value).max() ?? 1
        var body = text(10, 22, title, size: 15, weight: "bold")
        for (place, bar) in bars.enumerated() {
            let y = 40 + 28 * place
            let length = max(1, 340 * bar.value / most)
            body += text(232, y + 15, bar.name, anchor: "end")
            body +=
                "<rect x=\"240\" y=\"\(y)\" width=\"\(Int(length))\" height=\"20\" fill=\"\(place == 0 ? colours[0] : "#adb5bd")\"/>\n"
            body += text(246 + Int(length), y + 15, String(format: format, bar.value))
        }
        return svg(width: 680, height: 52 + 28 * bars.count, body)
    }

    /// Lines over an axis of powers of two.
    static func lines(_ lines: [Line], x: String, y: String) -> String {
        let all = lines.flatMap(\.points)
        let (left, right) = (log2(max(1, all.map(\.x).min() ?? 1)), log2(max(2, all.map(\.x).max() ?? 2)))
        let top = all.map(\.y).max() ?? 1
        let bottom = min(0, all.map(\.y).min() ?? 0)
        func place(_ point: (x: Double, y: Double)) -> (Int, Int) {
            (
                Int(60 + 480 * (log2(max(1, point.x)) - left) / max(right - left, 1e-9)),
                Int(300 - 260 * (point.y - bottom) / max(top - bottom, 1e-9))
            )
        }
        var body = "<path d=\"M60 40V300H540\" fill=\"none\" stroke=\"#868e96\"/>\n"
        body += text(10, 24, y) + text(540, 336, x, anchor: "end")
        for value in Set(all.map(\.x)).sorted() {
            let (column, _) = place((value, bottom))
            body += text(column, 316, String(format: "%g", value), size: 10, anchor: "middle")
        }
        for part in 0...4 {
            let value = bottom + (top - bottom) * Double(part) / 4
            let (_, row) = place((1, value))
            body += text(54, row + 4, String(format: "%.3g", value), size: 10, anchor: "end")
            body += "<path d=\"M60 \(row)H540\" stroke=\"#e9ecef\"/>\n"
        }
        for (number, line) in lines.enumerated() {
            let colour = colours[number % colours.count]
            let path = line.points.map {
                let (column, row) = place($0); return "\(column) \(row)"
            }.joined(separator: "L")
            body += "<path d=\"M\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>\n"
            body += "<rect x=\"556\" y=\"\(44 + 22 * number)\" width=\"12\" height=\"12\" fill=\"\(colour)\"/>\n"
            body += text(574, 55 + 22 * number, line.name)
        }
        return svg(width: 700, height: 346, body)
    }

    private static func text(
        _ x: Int, _ y: Int, _ text: String, size: Int = 13, weight: String = "normal", anchor: String = "start"
    ) -> String {
        let escaped = text.replacingOccurrences(of: "`", with: "").replacingOccurrences(of: "&", with: "&amp;")
            .replacingOccurrences(of: "<", with: "&lt;")
        return
            "<text x=\"\(x)\" y=\"\(y)\" font-size=\"\(size)\" font-weight=\"\(weight)\" text-anchor=\"\(anchor)\" fill=\"#212529\">\(escaped)</text>\n"
    }

    private static func svg(width: Int, height: Int, _ body: String) -> String {
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" width=\"\(width)\" height=\"\(height)\" "
            + "font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\(body)</svg>\n"
    }
}
