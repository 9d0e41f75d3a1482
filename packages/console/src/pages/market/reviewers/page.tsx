import { PageTitle } from '../../../ui/parts.tsx'

export const ReviewersPage = () => <PageTitle title="The best reviewers" />
