internal import Glibc
internal import ReelCore

/// The file that makes a folder a store, with the store's id.
struct StoreMarker: Codable {
    static let name = "store.json"
    /// Grows when earlier releases would misread what a store holds.
    static let version = 1

    let version: Int
    let id: StoreID

    enum CodingKeys: String, CodingKey {
        case version, id
    }

    static func read(in root: String) throws(ReelFailure) -> StoreID {
        let path = "\(root)/\(name)"
        let bytes = try AtomicFile.read(path)
        let version = try AtomicFile.checked(path) { try CanonicalJSON.value(Version.self, from: bytes) }.version
        guard version == StoreMarker.version else {
            throw ReelFailure(.storeOfOtherVersion(path: root, found: version, known: StoreMarker.version))
        }
        return try AtomicFile.checked(path) { try CanonicalJSON.value(StoreMarker.self, from: bytes) }.id
    }

    /// The id of the store, made if it has none. If several processes do this at once, one of them makes it.
    static func create(in root: String) throws(ReelFailure) -> StoreID {
        let marker = StoreMarker(version: version, id: StoreID(Files.randomName()))
        let path = "\(root)/\(name)"
        if access(path, F_OK) == 0 { return try read(in: root) }
        return try AtomicFile.create(AtomicFile.json(of: marker), at: path) ? marker.id : try read(in: root)
    }

    private struct Version: Decodable {
        let version: Int

        enum CodingKeys: String, CodingKey {
            case version
        }
    }
}
