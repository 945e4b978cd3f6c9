internal import Glibc
package import ReelCore

/// Pictures of a job for people: made by engines on demand, of no use to the job.
extension JobFolder {
    private var pictures: String { path(.pictures) }

    /// Opens a picture; nil if it has not been made, or something else is in its place.
    package func picture(_ name: PictureName) -> OpenFile? {
        try? OpenFile(inStore: .file("\(pictures)/\(name.text)"))
    }

    /// The place at which an engine writes a picture.
    package func place(of picture: PictureName) -> Locator { .file("\(pictures)/\(picture.text)") }

    /// Makes room for a picture, and the folder of the pictures if there is none: of `most` pictures the oldest goes.
    /// Returns the folder, in which an engine may write.
    package func roomForPicture(of most: Int) throws(ReelFailure) -> Locator {
        do throws(SystemCode) {
            // Not the folders above it: a job that is being removed does not come back.
            guard mkdir(pictures, 0o777) == 0 || errno == EEXIST else { throw SystemCode(errno) }
            let names = try Files.names(in: pictures)
            if names.count >= most {
                let ages = names.map { ($0, (try? Files.entry("\(pictures)/\($0)"))??.st_mtim.tv_sec ?? 0) }
                for (name, _) in ages.sorted(by: { $0.1 < $1.1 }).prefix(names.count - most + 1) {
                    unlink("\(pictures)/\(name)")
                }
            }
        } catch {
            throw SystemError.store(.makeFolder, pictures, error.value)
        }
        return .file(pictures)
    }
}
