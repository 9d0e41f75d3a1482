// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    AccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";

/// @title The roles of the protocol
/// @notice Each power is a role of its own, held by a key of its own. The admin grants and revokes roles and has no other power; the
/// admin itself is handed over in two steps (`beginDefaultAdminTransfer`, then `acceptDefaultAdminTransfer` by the new one after a delay).
abstract contract Roles is AccessControlDefaultAdminRules {
    /// @notice May split payments whose attribution the payer's nonce does not commit to.
    bytes32 public constant SETTLER_ROLE = keccak256("SETTLER_ROLE");
    /// @notice May decide where escrowed money goes once the window has ended, and release earned cashback.
    bytes32 public constant ORACLE_ROLE = keccak256("ORACLE_ROLE");
    /// @notice May publish reviews whose proof was approved, with the owner's signature.
    bytes32 public constant PUBLISHER_ROLE = keccak256("PUBLISHER_ROLE");
    /// @notice May pause, resume, suspend and reinstate.
    bytes32 public constant GUARDIAN_ROLE = keccak256("GUARDIAN_ROLE");
    /// @notice May deposit into the escrow: held by the split router only.
    bytes32 public constant DEPOSITOR_ROLE = keccak256("DEPOSITOR_ROLE");

    /// @param admin The first admin
    /// @param adminDelay Seconds that must pass between the two steps of a hand-over
    constructor(address admin, uint48 adminDelay) AccessControlDefaultAdminRules(adminDelay, admin) {}
}
