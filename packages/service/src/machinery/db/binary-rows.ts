// Reads the binary format of COPY: a header, then the rows, each as the number of its fields and the fields with their lengths.

const SIGNATURE = 11
/** The signature, the flags and the length of an extension, which is always empty. */
const HEADER = SIGNATURE + 8
/** Stands where a row begins, after the last one. */
const END = -1

/** Calls `onRow` with the fields of each row. They are parts of a buffer that is not kept: what stays has to be copied. */
export async function readRows(
  chunks: AsyncIterable<Buffer>,
  onRow: (fields: readonly Buffer[]) => void,
): Promise<void> {
  let [rest, toSkip]: [Buffer, number] = [Buffer.alloc(0), HEADER]
  for await (const chunk of chunks) {
    const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let at = Math.min(toSkip, data.length)
    toSkip -= at
    if (toSkip === 0) at = readWhole(data, at, onRow)
    rest = data.subarray(at)
  }
}

/** Reads the rows that have come as a whole. Returns where the next one begins. */
function readWhole(data: Buffer, from: number, onRow: (fields: readonly Buffer[]) => void): number {
  let begin = from
  while (begin + 2 <= data.length) {
    const count = data.readInt16BE(begin)
    if (count === END) return data.length
    const fields: Buffer[] = []
    let at = begin + 2
    while (fields.length < count && at + 4 <= data.length) {
      const end = at + 4 + data.readInt32BE(at)
      if (end > data.length) break
      fields.push(data.subarray(at + 4, end))
      at = end
    }
    if (fields.length < count) break
    onRow(fields)
    begin = at
  }
  return begin
}
