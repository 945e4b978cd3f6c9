internal import ReelCore

/// A schema of OpenTimelineIO that reel knows, in one of its versions.
enum TimelineSchema: String, CaseIterable {
    case timeline = "Timeline.1"
    case collection = "SerializableCollection.1"
    case stack = "Stack.1"
    case track = "Track.1"
    case gap = "Gap.1"
    case transition = "Transition.1"
    /// With one media reference.
    case clip1 = "Clip.1"
    /// With media references by key.
    case clip2 = "Clip.2"
    case externalReference = "ExternalReference.1"
    case missingReference = "MissingReference.1"
    case generatorReference = "GeneratorReference.1"
    case imageSequenceReference = "ImageSequenceReference.1"
    case linearTimeWarp = "LinearTimeWarp.1"
    case freezeFrame = "FreezeFrame.1"
    case effect = "Effect.1"
    case timeEffect = "TimeEffect.1"
    case time = "RationalTime.1"
    case range = "TimeRange.1"

    /// The key of an object that names its schema.
    static let key = "OTIO_SCHEMA"
}

/// An object of a timeline.
struct TimelineObject {
    /// What the file calls the schema.
    let schemaName: String
    /// Nil if reel does not know the schema.
    let schema: TimelineSchema?
    /// Where it is.
    let place: JSONPlace
    private let object: JSONObject

    /// An object of any schema.
    init(_ place: JSONPlace) throws {
        self.place = place
        object = try place.object()
        schemaName = try object.required(TimelineSchema.key).text()
        schema = TimelineSchema(rawValue: schemaName)
    }

    /// An object of one of these schemas.
    init(_ place: JSONPlace, of wanted: [TimelineSchema]) throws {
        try self.init(place)
        guard let schema else { throw place.flaw(.unknownSchema(schema: schemaName)) }
        guard wanted.contains(schema) else { throw place.malformed(.schema(names: wanted.map(\.rawValue))) }
    }

    /// Its name; empty if it has none.
    var name: String { (try? object.known("name")?.text()) ?? "" }

    /// Whether it is to be shown or heard. Earlier versions of the library do not say so.
    var isEnabled: Bool { get throws { try object.known("enabled")?.flag() ?? true } }

    /// The value of a key; nil if it is missing or null.
    subscript(key: String) -> JSONPlace? { object.known(key) }

    /// The value of a key. Throws a flaw if it is missing or null.
    func required(_ key: String) throws -> JSONPlace { try object.required(key) }

    /// The objects in the list of a key; none if it is missing or null.
    func list(_ key: String) throws -> [TimelineObject] {
        try object.known(key)?.list().map { try TimelineObject($0) } ?? []
    }
}
