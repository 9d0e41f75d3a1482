import { PageTitle } from '../../../ui/parts.tsx'

export const SpendingPage = () => <PageTitle title="Spending caps and queued purchases" />
