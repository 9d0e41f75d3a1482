/** One line for each object; the keys of the first are the columns. */
export function table(rows: readonly Record<string, string | number>[]): string {
  const columns = Object.keys(rows[0] ?? {})
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
        .join('   '),
    )
    .join('\n')
}

/** Base units as USDC. */
export const usdc = (units: bigint): string => {
  const text = (units < 0n ? -units : units).toString().padStart(7, '0')
  return `${units < 0n ? '-' : ''}${text.slice(0, -6)}.${text.slice(-6)}`
}
