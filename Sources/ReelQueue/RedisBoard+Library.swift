public import ReelCore

extension RedisBoard {
    /// Loads the board's functions into a Redis that has none, or older ones. Every call that needs them does so by itself
    /// as far as the user may; this is for one that may, on behalf of others that may not.
    ///
    /// Throws `.boardUnprepared` where the user may not. Newer ones are never replaced: throws `.boardOfNewerRelease` unless
    /// they serve this program.
    ///
    /// - Returns: whether they were loaded.
    @discardableResult
    public func prepare() throws(ReelFailure) -> Bool {
        if let found = try libraryVersion(), found > Library.version {
            // Whether they serve it tells any call, of whatever job.
            _ = try call(Command.Status(job: JobID("-")))
            return false
        }
        return try provide(replacing: true)
    }

    /// - Parameter replacing: whether older functions are replaced, which programs that work with them will notice; else
    ///   this throws.
    @discardableResult
    func provide(replacing: Bool) throws(ReelFailure) -> Bool {
        let found = try libraryVersion()
        if found == Library.version { return false }
        if let found, found > Library.version {
            throw ReelFailure(.boardOfNewerRelease(found: found, known: Library.version))
        }
        let unprepared = ReelFailure(.boardUnprepared(found: found, known: Library.version))
        if found != nil, !replacing { throw unprepared }
        do throws(ReelFailure) {
            try send(["FUNCTION", "LOAD"] + (found == nil ? [] : ["REPLACE"]) + [Library.text])
        } catch {
            guard case .redisRefused(_, let said, _) = error.reason else { throw error }
            if said.hasPrefix("NOPERM") { throw unprepared }
            // Another program was quicker.
            if said.contains("already exists") { return false }
            throw error
        }
        return true
    }

    /// The version of the functions that Redis has; nil where it has none.
    func libraryVersion() throws(ReelFailure) -> Int? {
        do throws(ReelFailure) {
            let reply = try send(["FCALL_RO", "\(Library.name)_version", "0"])
            guard let version = reply.integer else { throw reply.surprise }
            return version
        } catch {
            guard case .redisRefused(_, let said, _) = error.reason,
                Library.Mismatch(said) == .unknownFunction
            else { throw error }
            return nil
        }
    }
}
