import { PageTitle } from '../../../ui/parts.tsx'

export const PurchasesPage = () => <PageTitle title="My purchases" />
