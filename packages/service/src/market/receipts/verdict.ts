/** A receipt that proves nothing to a machine. The message says why, for admins, and contains no text of strangers. */
export class Unproven extends Error {
  override readonly name = 'Unproven'
}

/** What cannot be verified now, and perhaps later. The message says why. */
export class NotNow extends Error {
  override readonly name = 'NotNow'
}
