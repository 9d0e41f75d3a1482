// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract SetSuspendedTest is MarketTest {
    /// [CHAIN-32]
    function test_succeeds_whenTheGuardianSuspendsAndReinstates() public {
        vm.expectEmit(address(merchants));
        emit MerchantRegistry.MerchantSuspensionSet(merchantId, true);
        setSuspended(true);
        assertTrue(merchants.isSuspended(merchantId));
        assertFalse(merchants.isActive(merchantId));
        vm.expectEmit(address(merchants));
        emit MerchantRegistry.MerchantSuspensionSet(merchantId, false);
        setSuspended(false);
        assertFalse(merchants.isSuspended(merchantId));
        assertTrue(merchants.isActive(merchantId));
    }

    /// [CHAIN-32]
    function test_succeeds_whenTheOwnerCannotLiftIt() public {
        setSuspended(true);
        vm.prank(merchant.addr);
        merchants.setActive(merchantId, true);
        assertFalse(merchants.isActive(merchantId));
    }

    /// [CHAIN-32]
    function test_succeeds_whenSuspensionOutlivesATransfer() public {
        setSuspended(true);
        transferIdentity(merchant.addr, stranger, merchantId);
        vm.prank(stranger);
        merchants.setActive(merchantId, true);
        assertTrue(merchants.isSuspended(merchantId));
        assertFalse(merchants.isActive(merchantId));
    }

    function test_succeeds_whenTheOwnersFlagIsUntouched() public {
        vm.prank(merchant.addr);
        merchants.setActive(merchantId, false);
        setSuspended(true);
        setSuspended(false);
        assertFalse(merchants.isActive(merchantId));
    }

    function test_reverts_whenNotTheGuardianCalls() public {
        vm.expectRevert(missingRole(admin, "GUARDIAN_ROLE"));
        vm.prank(admin);
        merchants.setSuspended(merchantId, true);
    }

    function setSuspended(bool suspended) private {
        vm.prank(guardian);
        merchants.setSuspended(merchantId, suspended);
    }
}
