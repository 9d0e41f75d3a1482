import { formatRank } from '../../../format/text.ts'

const MILLION = 1_000_000

/** A standing in millionths, as a number from 0 to 1. */
export const Standing = ({ of }: { of: number | null }) =>
  of === null ? (
    <span className="soft">none</span>
  ) : (
    <data className="number" value={of} title={`${of.toLocaleString('en')} millionths`}>
      {formatRank(of / MILLION)}
    </data>
  )

/** A part of a whole, in percent. */
export const percent = (part: number, of: number): string =>
  of > 0 ? `${Math.round((100 * part) / of)} %` : '0 %'
