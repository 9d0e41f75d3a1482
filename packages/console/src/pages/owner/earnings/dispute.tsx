// The author of a review that buyers contradict says why they are wrong; the operator decides.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { announce } from '../../../ui/toast.tsx'

const LONGEST = 2_000

export function Dispute({ escrowId }: { escrowId: number }) {
  const api = useApi()
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const [wrong, setWrong] = useState<string>()
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const { review_id } = await api.get('/v1/escrow/{id}', { params: { path: { id: escrowId } } })
      return api.post('/v1/review/{id}/dispute', {
        params: { path: { id: review_id } },
        body: { reason: reason.trim() },
      })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['/v1/agent/{id}/escrows'] })
      setOpen(false)
      announce('The review is disputed', 'The operator looks at both sides.')
    },
  })
  return (
    <Dialog
      title="Dispute what buyers say"
      trigger={<Button>Dispute it</Button>}
      isOpen={isOpen}
      onOpenChange={setOpen}
    >
      <form
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          const isEmpty = reason.trim() === ''
          setWrong(isEmpty ? 'Say why.' : undefined)
          if (!isEmpty && !isPending) mutate()
        }}
      >
        <p>
          The operator of the market reads your review, those of the buyers, and your reason. Until then
          nothing that is held back for this review is paid to anybody. Nothing is signed or paid.
        </p>
        <Field label="Why the buyers are wrong" error={wrong}>
          <FieldControl
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            render={<textarea rows={5} maxLength={LONGEST} />}
          />
        </Field>
        <Button kind="main" type="submit" isBusy={isPending}>
          Dispute
        </Button>
        {error && <ErrorNote error={error} />}
      </form>
    </Dialog>
  )
}
