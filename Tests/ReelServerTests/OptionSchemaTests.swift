import Foundation
import ReelJobs
import ReelServer
import Testing

/// The options of a job in the server's document are those of the table.
@Suite struct OptionSchemaTests {
    private enum JSON: Equatable, Codable {
        case null, flag(Bool), number(Double), text(String), list([JSON]), object([String: JSON])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self =
                if container.decodeNil() {
                    .null
                } else if let flag = try? container.decode(Bool.self) {
                    .flag(flag)
                } else if let number = try? container.decode(Double.self) {
                    .number(number)
                } else if let text = try? container.decode(String.self) {
                    .text(text)
                } else if let list = try? container.decode([JSON].self) {
                    .list(list)
                } else {
                    .object(try container.decode([String: JSON].self))
                }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .null: try container.encodeNil()
            case .flag(let flag): try container.encode(flag)
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            case .list(let list): try container.encode(list)
            case .object(let object): try container.encode(object)
            }
        }

        subscript(key: String) -> JSON? { if case .object(let object) = self { object[key] } else { nil } }
    }

    /// The schema of an option.
    private func schema(of option: RequestOption) -> JSON {
        var schema = ["description": JSON.text(option.help)]
        var value = { (text: String) in JSON.text(text) }
        var types: [String]
        switch option.form {
        case .flag:
            types = ["boolean"]
            schema["x-default"] = .flag(false)
            value = { _ in .flag(true) }
        case .word(let words):
            types = ["string"]
            schema["enum"] = .list(words.map(JSON.text) + [.null])
        case .whole(let allowed, let word):
            types = ["integer", "string"]
            schema["minimum"] = .number(Double(allowed.lowerBound))
            if allowed.upperBound < .max { schema["maximum"] = .number(Double(allowed.upperBound)) }
            schema["pattern"] = .text(word.map { "^([0-9]+|\($0))$" } ?? "^[0-9]+$")
            value = { text in Double(text).map(JSON.number) ?? .text(text) }
        case .text(let forms, nil):
            types = ["string"]
            schema["description"] = .text("\(option.help) It takes \(forms).")
        case .text(let forms, let numbers?):
            types = ["number", "string"]
            schema["description"] = .text("\(option.help) It takes \(forms).")
            schema["minimum"] = .number(numbers.lowerBound)
            if numbers.upperBound < .infinity { schema["maximum"] = .number(numbers.upperBound) }
            value = { text in Double(text).map(JSON.number) ?? .text(text) }
        }
        types.append("null")
        schema["type"] = .list(types.map(JSON.text))
        // Not as "default": generated clients would send it, also where the option means nothing.
        if let usual = option.usual { schema["x-default"] = value(usual) }
        schema["examples"] = .list([value(option.example)])
        return .object(schema)
    }

    @Test("the document has each option with its types, limits, default and an example, and no other")
    func options() throws {
        let place = "../../../Sources/ReelServer/Pages/openapi.json"
        let file = URL(filePath: #filePath).appending(path: place).standardized
        let document = try JSONDecoder().decode(JSON.self, from: Data(contentsOf: file))
        let schemas = document["components"]?["schemas"]
        let options = try #require(schemas?["JobRequest"]?["properties"]?["options"])
        #expect(options["additionalProperties"] == .flag(false))
        guard case .object(let described)? = options["properties"] else {
            Issue.record("the options have no properties")
            return
        }
        let fields = RequestNames.api.fields
        #expect(Set(described.keys) == Set(fields.map(\.rawValue)))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for field in fields {
            let wanted = schema(of: field.option)
            let text = String(decoding: try encoder.encode(wanted), as: UTF8.self)
            #expect(described[field.rawValue] == wanted, "\(field.rawValue) must be \(text)")
        }
    }
}
