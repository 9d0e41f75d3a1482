const bytes = (number: number, length: number) =>
  Buffer.from(number.toString(16).padStart(2 * length, '0'), 'hex')

/** The address of an owner. The wallet without an agent, -1, has one that nobody else has. */
export const account = (owner: number) => (owner < 0 ? Buffer.alloc(20, 0xff) : bytes(owner, 20))
export const bytes32 = (number: number) => bytes(number, 32)
