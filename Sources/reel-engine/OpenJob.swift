import ReelCore
import ReelEngine
import ReelMedia

/// A job's files in memory, and its sources open.
final class OpenJob {
    let sources: [IndexedSource]
    let plan: Plan
    private var opened: PassReverser?

    init(_ files: JobFiles) throws(ReelFailure) {
        plan = try Media.plan(files.plan)
        var sources: [IndexedSource] = []
        for (files, planned) in zip(files.sources, plan.sources) {
            sources.append(
                IndexedSource(files.source, index: try Media.index(files.index, hash: planned.indexHash)))
        }
        guard plan.fits(sources.map(\.index)) else {
            throw ReelFailure(.jobFileUnreadable(path: files.plan.name, said: "it names what its indexes do not have"))
        }
        self.sources = sources
    }

    /// The reverser of video passes, made with the first of them.
    func reverser() throws(ReelFailure) -> PassReverser {
        if let opened { return opened }
        let made = try PassReverser(sources: sources, plan: plan)
        opened = made
        return made
    }
}
