import type { AnswerOf } from '@referrer/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../../api/use-api.ts'
import { formatUsdc } from '../../../format/usdc.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Facts } from '../../../ui/parts.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Moment, Usdc } from '../../../ui/values.tsx'
import { CAP_WRONG, capOf } from './cap.ts'

type Limit = AnswerOf<'/v1/spending-limits', 'get'>
type Budget = AnswerOf<'/v1/spending-limits/budget', 'get'>

const CAPS = [
  ['per_tx_cap_usdc', 'For one purchase, in USDC'],
  ['daily_cap_usdc', 'For a day (UTC), in USDC'],
  ['total_cap_usdc', 'For all time, in USDC'],
] as const
type CapName = (typeof CAPS)[number][0]

interface Props {
  chainId: number
  limit: Limit | undefined
  budget: Budget
}

const shown = (cap: number | null | undefined) =>
  cap === null || cap === undefined ? 'No cap' : <Usdc amount={cap} />

export function Caps({ chainId, limit, budget }: Props) {
  const [isChanging, setChanging] = useState(false)
  return (
    <div className="stack">
      <Facts
        facts={[
          ['One purchase', shown(limit?.per_tx_cap_usdc)],
          ['A day', shown(limit?.daily_cap_usdc)],
          ['All time', shown(limit?.total_cap_usdc)],
          ['Left now', shown(budget.remaining_budget)],
        ]}
      />
      {limit && (
        <p className="small soft">
          Changed <Moment at={limit.updated_at} />.
        </p>
      )}
      {isChanging ? (
        <Change chainId={chainId} limit={limit} onDone={() => setChanging(false)} />
      ) : (
        <Button onClick={() => setChanging(true)}>{limit ? 'Change the caps' : 'Set caps'}</Button>
      )}
    </div>
  )
}

function Change({ chainId, limit, onDone }: Omit<Props, 'budget'> & { onDone: () => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const first = (name: CapName) => (limit?.[name] == null ? '' : formatUsdc(limit[name]).replaceAll(',', ''))
  const [texts, setTexts] = useState<Record<CapName, string>>({
    per_tx_cap_usdc: first('per_tx_cap_usdc'),
    daily_cap_usdc: first('daily_cap_usdc'),
    total_cap_usdc: first('total_cap_usdc'),
  })
  const [isChecked, setChecked] = useState(false)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      api.post('/v1/spending-limits', {
        body: {
          chain_id: chainId,
          per_tx_cap_usdc: capOf(texts.per_tx_cap_usdc) ?? null,
          daily_cap_usdc: capOf(texts.daily_cap_usdc) ?? null,
          total_cap_usdc: capOf(texts.total_cap_usdc) ?? null,
        },
      }),
    onSuccess: async () => {
      await Promise.all(
        ['/v1/spending-limits/budget', '/v1/spending-limits'].map((path) =>
          queries.invalidateQueries({ queryKey: [path] }),
        ),
      )
      announce('The caps are set')
      onDone()
    },
  })
  const isWrong = (name: CapName) => capOf(texts[name]) === undefined
  return (
    <form
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        setChecked(true)
        const wrong = CAPS.find(([name]) => isWrong(name))?.[0]
        if (wrong) (event.currentTarget.elements.namedItem(wrong) as HTMLElement | null)?.focus()
        else if (!isPending) mutate()
      }}
    >
      {CAPS.map(([name, label]) => (
        <Field
          key={name}
          label={label}
          help="Empty: no cap. 0: nothing may be bought."
          error={isChecked && isWrong(name) ? CAP_WRONG : undefined}
        >
          <FieldControl
            name={name}
            inputMode="decimal"
            value={texts[name]}
            onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
          />
        </Field>
      ))}
      <p className="small soft">They count at once for all your agents. Nothing is signed or paid.</p>
      <div className="row">
        <Button kind="main" type="submit" isBusy={isPending}>
          Save the caps
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
      {error && <ErrorNote error={error} />}
    </form>
  )
}
