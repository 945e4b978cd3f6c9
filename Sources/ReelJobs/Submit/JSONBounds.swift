package import Foundation

/// How deep the values of a JSON text may lie in one another, and how many there may be.
///
/// The time that `JSONDecoder` takes grows with the cube of the depth, and a text of a few bytes can hold a value for every
/// second of them. So texts that anybody may send are measured before they are decoded.
package struct JSONBounds: Sendable {
    /// A value in no other is 1 deep.
    package var depth: Int
    package var values: Int

    package init(depth: Int, values: Int) { (self.depth, self.values) = (depth, values) }

    /// Which bound a text exceeds.
    package enum Excess: Hashable, Sendable { case depth, values }

    /// Which bound a text exceeds; nil if neither. Reads each byte once, and does not tell whether the text is JSON. An empty
    /// list or object counts as two values.
    package func excess(of text: some Sequence<UInt8>) -> Excess? {
        var (open, found) = (0, 1)
        var isInString = false, isEscaped = false
        for byte in text {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                open += 1
                found += 1
                // The values in it are a step deeper.
                if open >= depth { return .depth }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): open -= 1
            case UInt8(ascii: ","): found += 1
            default: continue
            }
            if found > values { return .values }
        }
        return nil
    }
}

extension DecimalJSON {
    /// Reads a text. Throws a `JSONExcess` if it exceeds the bounds, before anything is decoded, and a `DecodingError` if it is
    /// not JSON.
    package init(_ text: Data, within bounds: JSONBounds) throws {
        if let excess = bounds.excess(of: text) { throw JSONExcess(bounds: bounds, excess: excess) }
        self = try JSONDecoder().decode(DecimalJSON.self, from: text)
    }
}

/// A JSON text that exceeds its bounds.
package struct JSONExcess: Error, CustomStringConvertible {
    package var bounds: JSONBounds
    package var excess: JSONBounds.Excess

    /// Completes a sentence about the text.
    package var description: String {
        switch excess {
        case .depth: "its values lie more than \(bounds.depth) deep in one another"
        case .values: "it has more than \(bounds.values) values"
        }
    }
}
