// Data of strangers, as text: nothing of it becomes an element, an image or an address that opens by itself.
import { plain } from '../../../format/text.ts'
import { addressesIn } from './addresses.ts'

const MOST_CHARACTERS = 20_000

export const LooseData = ({ data, label }: { data: unknown; label: string }) => (
  <>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard has to be able to scroll it */}
    <section className="loose" tabIndex={0} aria-label={label}>
      <pre>
        <bdi>{plain(JSON.stringify(data, null, 2) ?? '', MOST_CHARACTERS)}</bdi>
      </pre>
    </section>
    <Addresses of={data} />
  </>
)

/** The addresses in the data, each by its host: who opens one should know where it leads. */
function Addresses({ of }: { of: unknown }) {
  const found = addressesIn(of)
  if (found.length === 0) return null
  return (
    <ul className="loose-addresses" aria-label="Addresses in it">
      {found.map((url) => (
        <li key={url}>
          <a href={url} target="_blank" rel="noopener noreferrer nofollow ugc" title={plain(url, 200)}>
            Open {plain(new URL(url).host, 80)}
          </a>
        </li>
      ))}
    </ul>
  )
}
