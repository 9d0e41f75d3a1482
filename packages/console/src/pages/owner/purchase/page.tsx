import { PageTitle } from '../../../ui/parts.tsx'

export const PurchasePage = () => <PageTitle title="A purchase of mine" />
