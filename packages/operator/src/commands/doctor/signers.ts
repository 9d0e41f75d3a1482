// Whether a remote signer has the keys of our accounts, and answers.
import { type KeysConfig, type OwnAccount, openSigners } from '@referrer/process'
import { type Examination, fine, wrong } from './examination.ts'
import type { Subject } from './subject.ts'

export function checkSigners(examination: Examination, { service, facilitator, accounts }: Subject): void {
  const of = (job: (one: string) => boolean) => accounts.filter((account) => job(account.job))
  if (service)
    check(
      examination,
      'of the service',
      service.keys,
      of((job) => job !== 'relayer'),
    )
  if (facilitator)
    check(
      examination,
      'of the facilitator',
      facilitator.keys,
      of((job) => job === 'relayer'),
    )
}

function check(examination: Examination, name: string, keys: KeysConfig, own: readonly OwnAccount[]): void {
  const accounts = [...own, ...keys.retiring]
  const remote = accounts.filter(({ privateKey }) => privateKey === undefined)
  if (remote.length === 0 || (!keys.web3signer && !keys.keyModule)) return
  examination.check({
    group: 'remote signer',
    name,
    advice: 'correct WEB3SIGNER_URL or KEY_MODULE, or load the keys there',
    withinMs: 3 * (keys.web3signer?.timeoutMs ?? 3_000) + 1_000,
    async run() {
      const signers = await openSigners(keys, accounts)
      const trouble = await signers.trouble()
      return trouble === undefined
        ? fine(`has the keys of ${remote.map(({ address }) => address).join(', ')}`)
        : wrong(trouble, 'start the signer, or correct WEB3SIGNER_URL')
    },
  })
}
