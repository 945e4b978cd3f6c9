internal import ReelCore

extension Command {
    /// Asks which store the board belongs to, and gives one to a board that has none.
    struct Adopt: BoardCommand {
        /// Nil if the caller only asks.
        var store: StoreID?

        static let name = "adopt"
        static let source = PackageResources.adopt_lua

        func arguments(_ timing: BoardTiming) -> [String] { [store?.text ?? ""] }

        func answer(_ reply: Reply) throws(ReelFailure) -> StoreID? {
            let known = try reply.text()
            return known.isEmpty ? nil : StoreID(known)
        }
    }
}
