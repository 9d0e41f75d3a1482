import { PageTitle } from '../../../ui/parts.tsx'

export const ReviewerPage = () => <PageTitle title="A reviewer" />
