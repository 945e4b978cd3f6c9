package import ReelCore
internal import ReelWords

extension JobSpec {
    /// "240 frames", as the message at a job's end counts them. A clip that is played several times is made once.
    package func countedFrames(_ made: Int) -> String {
        edit == nil ? Wording.count(made, "frame") : Wording.count(made, "frame") + " made"
    }
}
