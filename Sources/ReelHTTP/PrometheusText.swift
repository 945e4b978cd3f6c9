internal import HTTPTypes
package import Hummingbird
internal import NIOCore

/// Figures in the text format of Prometheus.
package struct PrometheusText {
    package enum Kind: String { case gauge, counter }

    /// A value of a figure, and the labels that tell it from the others. Labels are words of the program, without
    /// quotes and backslashes.
    package typealias Sample = (labels: [(String, String)], value: Double)

    package private(set) var text = ""

    package init() {}

    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        add(name, kind, help, [([], value)])
    }

    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        head(name, kind.rawValue, help)
        for sample in samples { line(name, sample.labels, sample.value) }
    }

    /// - Parameter buckets: ascending upper bounds, with the number of values up to each.
    package mutating func addHistogram(
        _ name: String, _ help: String, buckets: [(bound: Double, count: Int)], sum: Double, count: Int
    ) {
        head(name, "histogram", help)
        for bucket in buckets { line(name + "_bucket", [("le", number(bucket.bound))], Double(bucket.count)) }
        line(name + "_bucket", [("le", "+Inf")], Double(count))
        line(name + "_sum", [], sum)
        line(name + "_count", [], Double(count))
    }

    /// The answer to a scraper.
    package var response: Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private mutating func head(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    private mutating func line(_ name: String, _ labels: [(String, String)], _ value: Double) {
        let list = labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
        text += "\(name)\(list.isEmpty ? "" : "{\(list)}") \(number(value))\n"
    }

    private func number(_ value: Double) -> String { Int64(exactly: value).map { String($0) } ?? String(value) }
}
