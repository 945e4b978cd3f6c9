package import ReelCore
package import ReelJobs

/// The part of a watched snapshot that the screen shows: some of its lines, a list in some order, or one job of it.
package struct ScreenView: Equatable {
    /// The job of the list that is shown alone; nil for the list, or for what is watched.
    package private(set) var opened: JobID?
    private var list = ListState()
    private var place = ScrollPlace()
    /// Where the list was when a job was opened.
    private var listPlace = ScrollPlace()

    package init() {}

    /// Handles a key. In a list, the arrow keys move the selection.
    package mutating func heed(_ key: Keyboard.Key, of snapshot: Snapshot, on canvas: Canvas) {
        guard let rows = canvas.rows else { return }
        guard let jobs = snapshot.jobs else {
            if key == .back, opened != nil {
                (opened, place) = (nil, listPlace)
            } else {
                place.heed(key, count: snapshot.lines(canvas.endless).count, rows: rows)
            }
            return
        }
        let ids = list.sorted(jobs).map(\.id)
        if let step = ScrollPlace.step(key, page: max(rows / 4, 1), count: ids.count) {
            list.move(step, among: ids)
        } else if key == .sort {
            list.order = list.order.next
        } else if key == .open, let chosen = list.chosen, ids.contains(chosen) {
            (opened, listPlace, place) = (JobID(chosen), place, ScrollPlace())
        }
        let lines = snapshot.lines(canvas.endless, as: list)
        if let line = lines.firstIndex(where: \.isChosen) { place.reveal(line, rows: rows) }
    }

    package func lines(of snapshot: Snapshot, on canvas: Canvas) -> [ScreenLine] {
        place.first == 0
            ? snapshot.lines(canvas, as: list) : Array(snapshot.lines(canvas.endless, as: list).dropFirst(place.first))
    }
}

/// How a watched screen shows a list of jobs: in which order, and which of them is chosen.
package struct ListState: Hashable, Sendable {
    package var order = SortOrder.board
    /// The id of the chosen job; nil for none.
    package var chosen: String?

    /// In the order in which a key brings them one after the other.
    package enum SortOrder: String, CaseIterable, Sendable {
        /// As the board lists them.
        case board
        case name, state, progress, age

        var next: SortOrder {
            let all = SortOrder.allCases
            return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
        }
    }

    package init() {}

    /// Jobs in this order. Jobs that are equal in it keep their places.
    package func sorted(_ jobs: [JobView]) -> [JobView] {
        switch order {
        case .board: jobs
        case .name: jobs.stablySorted { $0.shownName.lowercased() < $1.shownName.lowercased() }
        case .state: jobs.stablySorted { $0.state.rawValue < $1.state.rawValue }
        case .progress: jobs.stablySorted { $0.share > $1.share }
        case .age: jobs.stablySorted { $0.created > $1.created }
        }
    }

    /// The line of a job, emphasised if it is the chosen one.
    func line(_ line: ScreenLine, of job: JobView) -> ScreenLine { job.id == chosen ? line.chosen : line }

    /// Chooses the job this many places below the chosen one, or the first if none is chosen.
    mutating func move(_ places: Int, among jobs: [String]) {
        guard let place = chosen.flatMap(jobs.firstIndex) else {
            chosen = jobs.first
            return
        }
        chosen = jobs[min(max(place + places, 0), jobs.count - 1)]
    }
}

extension JobView {
    var fileName: String { source.split(separator: "/").last.map(String.init) ?? source }

    /// The name that its user gave it, or the file's.
    var shownName: String { name ?? fileName }

    fileprivate var share: Double { frames > 0 ? Double(framesEncoded) / Double(frames) : 0 }
}

extension [JobView] {
    fileprivate func stablySorted(_ isBefore: (JobView, JobView) -> Bool) -> [JobView] {
        enumerated().sorted { left, right in
            if isBefore(left.element, right.element) { return true }
            return !isBefore(right.element, left.element) && left.offset < right.offset
        }.map(\.element)
    }
}
