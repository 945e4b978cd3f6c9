public import ReelCore
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// A page of jobs.
public struct JobPage: Sendable {
    /// The latest first. A page may have fewer than were asked for although others follow.
    public var jobs: [JobView]
    /// Where the next page begins; nil if there is none.
    public var next: String?
    /// Jobs of the board that cannot be read.
    public var unreadable: [QueueView.UnreadableView]
}

/// A pass as lists show it. Names only ever get added.
public struct JobPass: Codable, Hashable, Sendable {
    /// How far a pass is.
    public enum State: String, CaseIterable, Codable, Sendable {
        case waiting, live, retrying, exhausted, done
    }

    /// The pass's place in the plan.
    public var index: Int
    /// "video" or "audio".
    public var kind: String
    /// How far it is.
    public var state: State
    /// Its first frame of the source in presentation order, counted from 0; missing for anything but video.
    public var firstFrame: Int?
    /// The frame after its last; missing for anything but video.
    public var endFrame: Int?
    /// The id of the worker that holds it; missing if none does.
    public var worker: String?
}

/// A page of a job's passes, in the plan's order.
public struct PassPage: Codable, Hashable, Sendable {
    /// The passes.
    public var passes: [JobPass]
    /// The index at which the next page begins; missing if there is none.
    public var next: String?
}

extension JobService {
    /// How many jobs are looked at for one page: a filter that admits few must not keep a caller waiting.
    private static let mostLookedAt = 2000

    /// A page of the jobs of the board, the latest first; pages stay the same while jobs come and go.
    ///
    /// - Parameters:
    ///   - filter: which are meant; its limit does not count.
    ///   - text: only jobs whose id begins so, or whose name or source's name has it, in any case; nil for all.
    ///   - cursor: `next` of the page before; nil for the first.
    ///   - limit: the most jobs of the page.
    public func page(
        _ filter: JobFilter = JobFilter(), matching text: String? = nil, after cursor: String? = nil, limit: Int
    ) async throws(ReelFailure) -> JobPage {
        let workers = try await board.workers()
        var page = JobPage(jobs: [], next: nil, unreadable: [])
        var rest = try await board.jobs()[...]
        if let cursor, let place = rest.firstIndex(where: { $0.text == cursor }) { rest = rest[..<place] }
        var lookedAt = 0
        while !rest.isEmpty, page.jobs.count < limit, lookedAt < JobService.mostLookedAt {
            let part = rest.suffix(min(100, limit - page.jobs.count))
            let list = try await board.list(part.reversed())
            rest = rest.dropLast(part.count)
            lookedAt += part.count
            for status in list.jobs where filter.admits(status) && status.matches(text) {
                let reason = WaitReason(status, workers: workers)
                let entry = store?.job(status.job.id)
                page.jobs.append(
                    await JobView(
                        status, options: try? entry?.read().spec, output: entry?.result, waitReason: reason,
                        waitAdvice: reason.flatMap(advice)))
            }
            if page.unreadable.isEmpty { page.unreadable = QueueView.UnreadableView.all(list.unreadable) }
            page.next = rest.isEmpty ? nil : part.first?.text
        }
        return page
    }

    /// A page of a job's passes, in the plan's order. Throws `.jobUnknown` if the board does not have the job.
    ///
    /// - Parameters:
    ///   - state: only passes that are so far; nil for all.
    ///   - first: the index from which on passes are looked at.
    ///   - limit: the most passes of the page.
    public func passes(
        of id: JobID, in state: JobPass.State? = nil, from first: Int = 0, limit: Int
    ) async throws(ReelFailure) -> PassPage {
        guard let status = try await board.status(id) else { throw ReelFailure(.jobUnknown(job: id)) }
        let count = status.job.passCount
        let live = try await board.live(id)
        let cells = try await board.strip(id, cells: count)?.cells ?? []
        var page = PassPage(passes: [], next: nil)
        var place = first
        while place < count, page.passes.count < limit, place - first < JobService.mostLookedAt {
            let end = min(place + 200, count)
            let known = try await board.passes(id, at: Array(place..<end))
            while place < end, page.passes.count < limit {
                let worker = live[place]
                let cell = cells.indices.contains(place) ? cells[place] : nil
                let found: JobPass.State =
                    if cell?.done ?? 0 > 0 { .done } else if worker != nil { .live } else if cell?.failed ?? 0 > 0 {
                        status.state == .failed ? .exhausted : .retrying
                    } else { .waiting }
                if state == nil || found == state { page.passes.append(JobPass(place, known[place], found, worker)) }
                place += 1
            }
        }
        page.next = place < count ? String(place) : nil
        return page
    }
}

extension JobPass {
    fileprivate init(_ index: Int, _ pass: Pass?, _ state: State, _ worker: WorkerID?) {
        self.init(index: index, kind: "video", state: state, worker: worker?.text)
        switch pass {
        case .video(let video): (firstFrame, endFrame) = (video.frames.lowerBound, video.frames.upperBound)
        case .audio: kind = "audio"
        default: break
        }
    }
}

extension JobStatus {
    /// Whether a search for that text finds it.
    fileprivate func matches(_ text: String?) -> Bool {
        guard let text = text?.lowercased(), !text.isEmpty else { return true }
        let names = [said?.name, job.source.split(separator: "/").last.map(String.init)].compactMap { $0?.lowercased() }
        return job.id.text.hasPrefix(text) || names.contains { $0.contains(text) }
    }
}

extension QueueView.UnreadableView {
    /// Those of a list, by id.
    static func all(_ unreadable: [JobID: ReelFailure]) -> [QueueView.UnreadableView] {
        unreadable.sorted { $0.key.text < $1.key.text }.map {
            QueueView.UnreadableView(id: $0.key.text, reason: $0.value.words, code: $0.value.reason.code)
        }
    }
}
