import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Api } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Foreign } from '../../../ui/values.tsx'
import { CHECKS, checklist } from './checks.ts'

const AGAIN_MS = 5_000

/** The market's look at an endpoint, repeated until it passes. */
export const readinessOf = (api: Api, resource: string | undefined) => ({
  queryKey: ['readiness', resource],
  queryFn: () => api.post('/v1/merchant/product/readiness', { body: { resource: resource ?? '' } }),
  enabled: isWebAddress(resource),
  retry: false,
  staleTime: AGAIN_MS,
  refetchInterval: ({ state }: { state: { data?: { pass: boolean } | undefined; error?: Error | null } }) =>
    state.data?.pass || state.error ? false : AGAIN_MS,
})

const LONGEST_ADDRESS = 2_048
const isWebAddress = (text: string | undefined): boolean =>
  text !== undefined && text.length <= LONGEST_ADDRESS && /^https?:\/\//i.test(text) && URL.canParse(text)

const MARKS = { true: '✓', false: '✗', undefined: '·' }
const WORDS = { true: 'passed', false: 'failed', undefined: 'not looked at yet' }

/** Each check explained, with what to do where it fails. */
export function Readiness({ resource, children }: { resource: string | undefined; children?: ReactNode }) {
  const api = useApi()
  const { data, error, isFetching, refetch } = useQuery(readinessOf(api, resource))
  if (resource === undefined) return null
  if (!isWebAddress(resource)) {
    return (
      <p className="field-error">
        Buyers cannot reach this: it has to be an address like https://shop.example/buy.
      </p>
    )
  }
  return (
    <section className="readiness" aria-label="Is the endpoint ready">
      <p role="status" className="row">
        <strong>
          {data?.pass
            ? 'Ready: buyers can pay.'
            : data
              ? 'Not ready yet.'
              : isFetching
                ? 'The market looks at your endpoint …'
                : 'Not looked at yet.'}
        </strong>
        {data && !data.pass && <span className="soft small">Looks again every five seconds.</span>}
      </p>
      {error && <ErrorNote error={error} />}
      {data && (
        <ul className="checks">
          {checklist(data.checks).map(({ name, ok, detail }) => (
            <li key={name} className={`check-${ok}`}>
              <span className="check-mark" aria-hidden="true">
                {MARKS[`${ok}`]}
              </span>
              <div>
                <p>
                  {CHECKS[name].title} <span className="hidden-text">: {WORDS[`${ok}`]}</span>
                </p>
                {ok === false && <p className="small">{CHECKS[name].mend}</p>}
                {ok === false && detail && (
                  <p className="small soft">
                    The market saw: <Foreign text={detail} most={300} />
                  </p>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
      <div className="row">
        <Button isBusy={isFetching} onClick={() => refetch()}>
          Look again now
        </Button>
        {children}
      </div>
    </section>
  )
}
