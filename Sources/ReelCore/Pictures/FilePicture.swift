/// A picture in a file of video, found by its time: one of an output, or of a segment of one.
package struct FilePicture: Hashable, Codable, Sendable {
    /// The file.
    package var file: Locator
    /// When it is shown, in seconds from the file's first picture on.
    package var start: Rational
    /// For how long, in seconds. Containers round times; a picture nearer to `start` than half of this is the one.
    package var lasts: Rational

    package init(file: Locator, start: Rational, lasts: Rational) {
        self.file = file
        self.start = start
        self.lasts = lasts
    }
}
