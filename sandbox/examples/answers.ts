// What the examples read of the service's answers. All of them are described at /docs.

export interface Reviewable {
  escrow_id: number
  merchant_id: number
  product_id: string
  name: string
  category: string
}

export interface Review {
  internal_id: number
  on_chain_id: number
  agent_id: number
  ref_link: string
}

interface Leg {
  amount: number
  status: string
}

export interface Escrow {
  held_back: Leg
  cashback: Leg
}

export interface ExplainedRank {
  repeat: { rank: number | null }
  explain: { repeat: { evidence: { kind: string; voter_agent_id?: number; counts: number }[] } }
}

export interface Decisions {
  decisions: {
    kind: 'release' | 'settle'
    contradicted: boolean
    cashback_earned: boolean
  }[]
}

export interface Discovery {
  products: {
    name: string
    product_score: number
    price_usdc?: number
    reviews: { slot: string; content_json: { description: string }; ref_link: string }[] | null
  }[]
}
