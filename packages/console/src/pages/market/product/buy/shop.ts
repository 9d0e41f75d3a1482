// Calls the shop through the market, because a page may not call other origins.

import type { RequestOf } from '@referrer/client'
import type { Api } from '../../../../api/api.ts'
import { ApiError } from '../../../../api/error.ts'
import { Problem } from '../../../../api/problem.ts'
import { plain } from '../../../../format/text.ts'
import type { CheckoutAnswer } from './offer.ts'

type Checkout = RequestOf<'/v1/checkout', 'post'>['body']

export const callShop = (api: Api, body: Checkout): Promise<CheckoutAnswer> =>
  api.post('/v1/checkout', { body }).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 503) {
      throw new Problem(
        `The shop does not answer${error.detail ? `: ${plain(error.detail, 200)}` : ''}`,
        body.payment === undefined
          ? 'Nothing was paid. Try again in a minute, or choose another product.'
          : 'See below what became of your payment.',
        { cause: error },
      )
    }
    if (error.status === 404) {
      throw new Problem(
        'Nothing is sold through this review now',
        'Reload the page, or choose another product.',
        {
          cause: error,
        },
      )
    }
    throw error
  })
