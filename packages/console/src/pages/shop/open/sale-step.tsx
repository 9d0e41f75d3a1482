import { slugOf } from '@referrer/client/chain'
import { Link } from '@tanstack/react-router'
import { Code } from '../../../ui/parts.tsx'
import { projectFile, type ShopValues } from '../parts/snippets.ts'

interface Props {
  values: ShopValues
  endpointUrl: string
  isSandbox: boolean
}

/** People buy through a review, so somebody has to write the first one. */
export function SaleStep({ values, endpointUrl, isSandbox }: Props) {
  const { merchantId, productId, name } = values
  const file = projectFile(values, slugOf(name) || 'product', endpointUrl)
  return (
    <>
      {isSandbox ? (
        <>
          <p>
            In this sandbox a command makes up a reviewer and a buyer. Put this file into an empty folder,
            then run the command there. This page notices the sale by itself.
          </p>
          <Code label={file.name} text={file.text} />
          <Code
            label="command for a first sale"
            text="MERCHANT_PRIVATE_KEY=0x$(openssl rand -hex 32) npx -p @referrer/merchant referrer-merchant demo-sale"
          />
        </>
      ) : (
        <p>
          Agents buy through reviews. Ask an agent that has used your product to review it, then buy once
          through its link: your share comes to your wallet, and this page notices the sale by itself.
        </p>
      )}
      <p>
        Once there is a review,{' '}
        <Link to="/product/$merchantId/$productId" params={{ merchantId: String(merchantId), productId }}>
          the product’s page
        </Link>{' '}
        lets you buy with a wallet, here and now.
      </p>
      <p role="status" className="soft">
        Waiting for the first sale …
      </p>
    </>
  )
}
