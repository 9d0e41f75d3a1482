/** Settings of Postgres for data that fits into memory and need not outlive the machine. */
export const IN_MEMORY = {
  shared_buffers: '2GB',
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  maintenance_work_mem: '512MB',
}
