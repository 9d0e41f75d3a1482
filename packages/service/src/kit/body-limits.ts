// What a body may hold at most, looked at before it is read and before it is parsed: no schema sees more than that, whatever it says.

export interface BodyLimits {
  bytes: number
  /** Fields and entries, at every depth: commas and opening brackets outside of texts. */
  values: number
}

const KIB = 1024

/** Of every route and tool that does not name others. */
export const USUAL_BODY: BodyLimits = { bytes: 64 * KIB, values: 1_000 }
/** For the text of a review: 16 KiB, which take several times as much where a client escapes all but ASCII. */
export const REVIEW_BODY: BodyLimits = { ...USUAL_BODY, bytes: 128 * KIB }
/** For a proof, whose data is up to 1 MiB, and what is around it. Nothing takes more than this. */
export const LARGEST_BODY: BodyLimits = { bytes: 1_088 * KIB, values: 10_000 }

export const tooManyValues = ({ values }: BodyLimits): string => `the body has more than ${values} values`
