internal import ArgumentParser
package import ReelCore
package import ReelJobs
internal import ReelWords

/// What a command line asks to be made into one output.
package struct Order {
    /// Paths of its sources.
    package var sources: [String]
    /// Nil reverses a range of the only source.
    package var edit: Edit?
    /// The path that names the output unless another does: the source's, the edit's file, or the first of those stitched.
    package var named: String
    /// What the output's default name says was done.
    package var deed: String
    /// What was left out of a timeline.
    package var diagnostics: [Diagnostic] = []

    /// Throws if the output would replace a file that it is made of.
    package func check(_ destination: Destination) throws(ReelFailure) {
        for file in [named] + sources { try destination.check(source: file) }
    }
}

extension SpecOptions {
    /// One for each output that a command's arguments ask for: videos, those in folders, files of edits, timelines, or with
    /// `--stitch` one of all. Throws a usage error for options that do not go with them.
    ///
    /// - Parameter refused: hears of each argument that cannot be an order, such as the file of an edit that cannot be made.
    package func orders(_ arguments: [String], refused: (ReelFailure) throws -> Void) throws -> [Order] {
        let arguments = try arguments.flatMap { argument in
            do throws(ReelFailure) {
                return try VideoFolder.files(in: argument)
            } catch {
                // One output of several cannot do without one of them.
                if stitch { throw error }
                try refused(error)
                return []
            }
        }
        guard !lenient || arguments.contains(where: SubmittedEdit.isTimeline) else {
            throw ValidationError("--lenient needs a timeline, a file that ends in .otio")
        }
        if stitch {
            if let edit = arguments.first(where: SubmittedEdit.isFile) {
                throw ValidationError("--stitch takes videos; \(edit) is an edit")
            }
            let edit = stitching(arguments)
            guard edit.edit.repeats <= Edit.mostClips else {
                throw ValidationError(
                    "--stitch with --times makes \(edit.edit.repeats) clips; at most \(Edit.mostClips)")
            }
            return [try order(edit, named: arguments[0], deed: deed)]
        }
        return try arguments.compactMap { argument in
            guard SubmittedEdit.isFile(argument) else { return try order(video: argument) }
            try refuseClipOptions()
            let edit: SubmittedEdit
            do throws(ReelFailure) {
                edit = try SubmittedEdit(file: argument, isLenient: lenient)
            } catch {
                try refused(error)
                return nil
            }
            return try order(edit: edit, named: argument)
        }
    }

    /// The order of one video at a path, whatever its name. Throws a usage error for options that do not go with it.
    package func order(video path: String) throws -> Order {
        guard let edit = playing(path) else {
            return Order(sources: [path], edit: nil, named: path, deed: deed)
        }
        return try order(edit, named: path, deed: deed)
    }

    /// The order of an edit that is no file. Throws a usage error for options that do not go with it.
    package func order(edit: SubmittedEdit, named: String) throws -> Order {
        try refuseClipOptions()
        return try order(edit, named: named, deed: "cut")
    }

    /// An order of an edit, with the soundtrack that is asked for.
    private func order(_ edit: SubmittedEdit, named: String, deed: String) throws -> Order {
        var edit = edit
        if let soundtrack {
            guard edit.edit.soundtrack == nil else {
                throw ValidationError("\(named) names a soundtrack; leave out --soundtrack")
            }
            edit.add(soundtrack: soundtrack, from: soundtrackFrom?.seconds ?? Rational(0))
        }
        return Order(
            sources: edit.sources, edit: edit.edit, named: named, deed: deed, diagnostics: edit.diagnostics)
    }

    /// The spec of an order's output.
    package func spec(_ order: Order, _ container: Container) -> JobSpec { spec(container, order.edit) }
}
