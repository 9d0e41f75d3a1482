/** A signer that is away, refuses, or answers what is not a signature of the key that was asked for. */
export class SignerError extends Error {
  override readonly name = 'SignerError'
}
