// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    AccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";

/// @title The roles of the protocol
/// @notice Each power is a separate role, held by a separate key. The admin grants and revokes roles and has no other power.
/// The admin role is handed over in two steps: `beginDefaultAdminTransfer`, then, after a delay, `acceptDefaultAdminTransfer`
/// by the new admin.
abstract contract Roles is AccessControlDefaultAdminRules {
    /// @notice May split payments whose nonce does not commit to the attribution.
    bytes32 public constant SETTLER_ROLE = keccak256("SETTLER_ROLE");
    /// @notice May decide who gets escrowed money once the window has ended, and release earned cashback before.
    bytes32 public constant ORACLE_ROLE = keccak256("ORACLE_ROLE");
    /// @notice May publish a review whose proof was approved, with the signature of the agent's owner.
    bytes32 public constant PUBLISHER_ROLE = keccak256("PUBLISHER_ROLE");
    /// @notice May pause and resume the escrow, and suspend and reinstate merchants.
    bytes32 public constant GUARDIAN_ROLE = keccak256("GUARDIAN_ROLE");
    /// @notice May deposit into the escrow. Only the split router holds it.
    bytes32 public constant DEPOSITOR_ROLE = keccak256("DEPOSITOR_ROLE");

    /// @param admin The first admin, not zero
    /// @param adminDelay Seconds that must pass between the two steps of an admin transfer; zero allows both at once
    constructor(address admin, uint48 adminDelay) AccessControlDefaultAdminRules(adminDelay, admin) {}
}
