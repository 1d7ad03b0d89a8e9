import { project } from '../../vitest.shared.ts';

export default project('coordinator', import.meta.url);
