import { plural } from '../../../format/text.ts'
import { Foreign } from '../../../ui/values.tsx'
import type { ReviewContent } from './review-content.ts'

/** What a reviewer measured, as names and values. */
export const Figures = ({ content: { figures, more }, most }: { content: ReviewContent; most: number }) => {
  if (figures.length === 0) return null
  const hidden = more + Math.max(0, figures.length - most)
  return (
    <>
      <dl className="figures">
        {figures.slice(0, most).map(({ key, name, value }) => (
          <div key={key}>
            <dt>
              <Foreign text={name} />
            </dt>
            <dd>
              <Foreign text={value} />
            </dd>
          </div>
        ))}
      </dl>
      {hidden > 0 && <p className="small soft">and {plural(hidden, 'more field')}</p>}
    </>
  )
}
